"""Notifications, the inbox, and what is to be delivered."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from flask import current_app

revision = "0005_notifications"
down_revision = "0004_profiles"
branch_labels = None
depends_on = None

Id = sa.BigInteger().with_variant(sa.Integer, "sqlite")
UNREAD = sa.text("NOT is_read")
PENDING = sa.text("state = 'pending'")


def upgrade() -> None:
    accounts = current_app.extensions["frontdesk"].accounts_in_migrations
    op.create_table(
        "frontdesk_notifications",
        sa.Column("id", Id, nullable=False),
        sa.Column("title", sa.String(200), nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("channels", sa.JSON, nullable=False),
        sa.Column("sender_id", accounts.type, nullable=True),
        sa.Column("notification_type", sa.String(20), nullable=False),
        sa.Column("scope", sa.String(50), nullable=False),
        sa.Column("receivers", Id, nullable=False, server_default="0"),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_frontdesk_notifications"),
        sa.ForeignKeyConstraint(
            ["sender_id"],
            [accounts.id],
            name="fk_frontdesk_notifications_sender_id",
            ondelete="SET NULL",
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_frontdesk_notifications_sender_id", "frontdesk_notifications", ["sender_id", "id"])
    op.create_table(
        "frontdesk_inbox",
        sa.Column("id", Id, nullable=False),
        sa.Column("notification_id", Id, nullable=False),
        sa.Column("receiver_id", accounts.type, nullable=False),
        sa.Column("is_read", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.PrimaryKeyConstraint("id", name="pk_frontdesk_inbox"),
        sa.ForeignKeyConstraint(
            ["notification_id"],
            ["frontdesk_notifications.id"],
            name="fk_frontdesk_inbox_notification_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["receiver_id"],
            [accounts.id],
            name="fk_frontdesk_inbox_receiver_id",
            ondelete="CASCADE",
        ),
        sa.UniqueConstraint("notification_id", "receiver_id", name="uq_frontdesk_inbox_notification_id_receiver_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_frontdesk_inbox_receiver_id", "frontdesk_inbox", ["receiver_id", "id"])
    op.create_index(
        "ix_frontdesk_inbox_unread",
        "frontdesk_inbox",
        ["receiver_id", "id"],
        postgresql_where=UNREAD,
        sqlite_where=UNREAD,
    )
    op.create_table(
        "frontdesk_outgoing_messages",
        sa.Column("id", Id, nullable=False),
        sa.Column("notification_id", Id, nullable=True),
        sa.Column("title", sa.String(200), nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("template_file", sa.String(255), nullable=True),
        sa.Column("context", sa.Text, nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_frontdesk_outgoing_messages"),
        sa.ForeignKeyConstraint(
            ["notification_id"],
            ["frontdesk_notifications.id"],
            name="fk_frontdesk_outgoing_messages_notification_id",
            ondelete="CASCADE",
        ),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_frontdesk_outgoing_messages_notification_id", "frontdesk_outgoing_messages", ["notification_id"]
    )
    op.create_table(
        "frontdesk_deliveries",
        sa.Column("id", Id, nullable=False),
        sa.Column("outgoing_id", Id, nullable=False),
        sa.Column("receiver_id", accounts.receiver_type, nullable=False),
        sa.Column("channel", sa.String(50), nullable=False),
        sa.Column("lane", sa.SmallInteger, nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("attempts", sa.SmallInteger, nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("claim", sa.String(32), nullable=True),
        sa.Column("reason", sa.String(200), nullable=True),
        sa.Column("reference", sa.String(100), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_frontdesk_deliveries"),
        sa.ForeignKeyConstraint(
            ["outgoing_id"],
            ["frontdesk_outgoing_messages.id"],
            name="fk_frontdesk_deliveries_outgoing_id",
            ondelete="CASCADE",
        ),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_frontdesk_deliveries_queue",
        "frontdesk_deliveries",
        ["channel", "lane", "due_at", "id"],
        postgresql_where=PENDING,
        sqlite_where=PENDING,
    )
    op.create_index(
        "ix_frontdesk_deliveries_outgoing_id", "frontdesk_deliveries", ["outgoing_id", "channel", "state"]
    )


def downgrade() -> None:
    op.drop_table("frontdesk_deliveries")
    op.drop_table("frontdesk_outgoing_messages")
    op.drop_table("frontdesk_inbox")
    op.drop_table("frontdesk_notifications")
