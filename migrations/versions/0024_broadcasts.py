"""An index for the list of all broadcasts.

On PostgreSQL, the index is created concurrently, outside of a transaction: an interrupted run creates it again.
"""

from __future__ import annotations

from contextlib import nullcontext

import sqlalchemy as sa
from alembic import op

revision = "0024_broadcasts"
down_revision = "0023_expansions"
branch_labels = None
depends_on = None

INDEX, TABLE = "ix_frontdesk_notifications_broadcasts", "frontdesk_notifications"
IS_BROADCAST = sa.text("notification_type = 'admin' AND scope = 'account'")


def upgrade() -> None:
    is_postgresql = op.get_context().dialect.name == "postgresql"
    with op.get_context().autocommit_block() if is_postgresql else nullcontext():
        op.drop_index(INDEX, TABLE, if_exists=True, postgresql_concurrently=True)
        op.create_index(
            INDEX,
            TABLE,
            ["id"],
            sqlite_where=IS_BROADCAST,
            postgresql_where=IS_BROADCAST,
            postgresql_concurrently=True,
        )


def downgrade() -> None:
    op.drop_index(INDEX, TABLE)
