"""Broadcasts that are stored once for all accounts, and their state in the inboxes of accounts that read them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from flask import current_app

revision = "0031_shared_broadcasts"
down_revision = "0030_search"
branch_labels = None
depends_on = None

BROADCASTS, ITEMS = "frontdesk_shared_broadcasts", "frontdesk_shared_items"
Id = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    accounts = current_app.extensions["frontdesk"].accounts_in_migrations
    op.create_table(
        BROADCASTS,
        sa.Column("item_id", Id, autoincrement=False, nullable=False),
        sa.Column("notification_id", Id, nullable=False),
        sa.Column("through_id", accounts.type, nullable=False),
        sa.PrimaryKeyConstraint("item_id", name=f"pk_{BROADCASTS}"),
        sa.ForeignKeyConstraint(
            ["notification_id"],
            ["frontdesk_notifications.id"],
            name=f"fk_{BROADCASTS}_notification_id",
            ondelete="CASCADE",
        ),
        sa.UniqueConstraint("notification_id", name=f"uq_{BROADCASTS}_notification_id"),
    )
    op.create_table(
        ITEMS,
        sa.Column("receiver_id", accounts.type, autoincrement=False, nullable=False),
        sa.Column("item_id", Id, autoincrement=False, nullable=False),
        sa.Column("is_read", sa.Boolean, server_default=sa.false(), nullable=False),
        sa.Column("is_deleted", sa.Boolean, server_default=sa.false(), nullable=False),
        sa.PrimaryKeyConstraint("receiver_id", "item_id", name=f"pk_{ITEMS}"),
        sa.ForeignKeyConstraint(
            ["receiver_id"], [accounts.id], name=f"fk_{ITEMS}_receiver_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["item_id"], [f"{BROADCASTS}.item_id"], name=f"fk_{ITEMS}_item_id", ondelete="CASCADE"
        ),
    )
    op.create_index(f"ix_{ITEMS}_item_id", ITEMS, ["item_id"])


def downgrade() -> None:
    op.drop_table(ITEMS)
    op.drop_table(BROADCASTS)
