"""An index for the deliveries that ended in a period.

On PostgreSQL it is created outside of any transaction, while others write.
"""

from __future__ import annotations

from contextlib import nullcontext

import sqlalchemy as sa
from alembic import op

revision = "0028_deliveries_by_end"
down_revision = "0027_account_notes"
branch_labels = None
depends_on = None

NAME, TABLE = "ix_frontdesk_deliveries_finished_at", "frontdesk_deliveries"
IS_ENDED = sa.text("state IN ('sent', 'failed')")


def upgrade() -> None:
    is_postgresql = op.get_context().dialect.name == "postgresql"
    with op.get_context().autocommit_block() if is_postgresql else nullcontext():
        op.drop_index(NAME, TABLE, if_exists=True, postgresql_concurrently=True)
        op.create_index(
            NAME,
            TABLE,
            ["state", "finished_at", "id"],
            sqlite_where=IS_ENDED,
            postgresql_where=IS_ENDED,
            postgresql_concurrently=True,
        )


def downgrade() -> None:
    op.drop_index(NAME, TABLE)
