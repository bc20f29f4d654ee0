"""Moves and drops what was removed: saved filters, broadcasts that were stored once, and the former
indexes of the search of accounts, which are replaced.

On PostgreSQL, rows are moved and indexes are created outside of a transaction. A migration that was
interrupted can run again: each step skips what is done.
"""

from __future__ import annotations

from contextlib import nullcontext

import sqlalchemy as sa
from alembic import op
from flask import current_app

revision = "0032_removed_features"
down_revision = "0031_shared_broadcasts"
branch_labels = None
depends_on = None

Id = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    move_shared_broadcasts()
    create_search_indexes()


def downgrade() -> None:
    """Restore the tables without their rows."""
    drop_search_indexes()
    restore_shared_broadcasts()


def outside_of_transaction():
    migration = op.get_context()
    is_postgresql = migration.dialect.name == "postgresql"
    return migration.autocommit_block() if is_postgresql else nullcontext()


def move_shared_broadcasts() -> None:
    """Placeholder of the step that moves broadcasts to the inbox and drops their tables."""


def restore_shared_broadcasts() -> None:
    """Placeholder, see above."""


def create_search_indexes() -> None:
    """Offline mode omits them: they depend on what the database has (see run_migrations)."""
    if op.get_context().as_sql:
        return
    with outside_of_transaction():
        current_app.extensions["frontdesk"].change_search_indexes(op.get_bind(), create=True)


def drop_search_indexes() -> None:
    if not op.get_context().as_sql:
        current_app.extensions["frontdesk"].change_search_indexes(op.get_bind(), create=False)
