"""Audiences of broadcasts, saved segments and drafts, and texts with personal fields."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from flask import current_app

revision = "0026_audiences"
down_revision = "0025_saved_filters"
branch_labels = None
depends_on = None

NOTIFICATIONS, OUTGOING = "frontdesk_notifications", "frontdesk_outgoing_messages"
SEGMENTS, DRAFTS = "frontdesk_segments", "frontdesk_broadcast_drafts"
Id = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    accounts = current_app.extensions["frontdesk"].accounts_in_migrations
    op.add_column(NOTIFICATIONS, sa.Column("audience", sa.JSON))
    op.add_column(NOTIFICATIONS, sa.Column("is_personal", sa.Boolean))
    op.add_column(OUTGOING, sa.Column("is_personal", sa.Boolean))
    op.create_table(
        SEGMENTS,
        sa.Column("id", Id, nullable=False),
        sa.Column("name", sa.String(80), nullable=False),
        sa.Column("audience", sa.JSON, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=f"pk_{SEGMENTS}"),
        sa.UniqueConstraint("name", name=f"uq_{SEGMENTS}_name"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        DRAFTS,
        sa.Column("id", Id, nullable=False),
        sa.Column("account_id", accounts.type, nullable=False),
        sa.Column("title", sa.String(200), nullable=False),
        sa.Column("content", sa.JSON, nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=f"pk_{DRAFTS}"),
        sa.ForeignKeyConstraint(
            ["account_id"], [accounts.id], name=f"fk_{DRAFTS}_account_id", ondelete="CASCADE"
        ),
        sqlite_autoincrement=True,
    )
    op.create_index(f"ix_{DRAFTS}_account_id", DRAFTS, ["account_id", "id"])


def downgrade() -> None:
    op.drop_table(DRAFTS)
    op.drop_table(SEGMENTS)
    op.drop_column(OUTGOING, "is_personal")
    op.drop_column(NOTIFICATIONS, "is_personal")
    op.drop_column(NOTIFICATIONS, "audience")
