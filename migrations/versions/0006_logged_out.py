"""A logout on the account's row, so that it outlives the keystore's memory."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006_logged_out"
down_revision = "0005_notifications"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # A nullable column without a default: neither database rewrites the table for it.
    op.add_column(
        "accounts", sa.Column("logged_out_at", sa.DateTime(timezone=True), nullable=True)
    )


def downgrade() -> None:
    # SQLite drops a column in place too; Alembic's batch would copy the whole table.
    op.drop_column("accounts", "logged_out_at")
