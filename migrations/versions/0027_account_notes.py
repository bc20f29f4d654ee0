"""Notes that admins write about an account."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from flask import current_app

revision = "0027_account_notes"
down_revision = "0026_audiences"
branch_labels = None
depends_on = None

NOTES = "frontdesk_account_notes"
Id = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    accounts = current_app.extensions["frontdesk"].accounts_in_migrations
    op.create_table(
        NOTES,
        sa.Column("id", Id, nullable=False),
        sa.Column("account_id", accounts.type, nullable=False),
        sa.Column("author_id", accounts.type, nullable=False),
        sa.Column("text", sa.String(2000), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=f"pk_{NOTES}"),
        sa.ForeignKeyConstraint(
            ["account_id"], [accounts.id], name=f"fk_{NOTES}_account_id", ondelete="CASCADE"
        ),
        sqlite_autoincrement=True,
    )
    op.create_index(f"ix_{NOTES}_account_id", NOTES, ["account_id", "id"])


def downgrade() -> None:
    op.drop_table(NOTES)
