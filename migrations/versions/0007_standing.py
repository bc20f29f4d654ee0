"""How a broadcast stood when it was last counted, so that a page of them need not count them all."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007_standing"
down_revision = "0006_logged_out"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Nullable columns without a default: neither database rewrites the table for them.
    op.add_column("frontdesk_notifications", sa.Column("standing", sa.JSON, nullable=True))
    op.add_column(
        "frontdesk_notifications", sa.Column("counted_at", sa.DateTime(timezone=True), nullable=True)
    )


def downgrade() -> None:
    # SQLite drops a column in place too; Alembic's batch would copy the whole table.
    op.drop_column("frontdesk_notifications", "counted_at")
    op.drop_column("frontdesk_notifications", "standing")
