"""Filters of the audit log that admins have saved."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from flask import current_app

revision = "0025_saved_filters"
down_revision = "0024_broadcasts"
branch_labels = None
depends_on = None

FILTERS = "frontdesk_saved_filters"
Id = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    accounts = current_app.extensions["frontdesk"].accounts_in_migrations
    op.create_table(
        FILTERS,
        sa.Column("id", Id, nullable=False),
        sa.Column("account_id", accounts.type, nullable=False),
        sa.Column("name", sa.String(80), nullable=False),
        sa.Column("query", sa.String(1000), nullable=False),
        sa.PrimaryKeyConstraint("id", name=f"pk_{FILTERS}"),
        sa.ForeignKeyConstraint(
            ["account_id"], [accounts.id], name=f"fk_{FILTERS}_account_id", ondelete="CASCADE"
        ),
    )
    op.create_index(f"ix_{FILTERS}_account_id", FILTERS, ["account_id", "name"], unique=True)


def downgrade() -> None:
    op.drop_table(FILTERS)
