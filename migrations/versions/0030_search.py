"""Indexes for the search of accounts by name, email address and phone number.

On PostgreSQL, the indexes are created concurrently, outside of a transaction. Without the right to create the extension
pg_trgm, the indexes find only the start of a text; `flask frontdesk index-search` creates the others later.
"""

from __future__ import annotations

from contextlib import nullcontext

from alembic import op
from flask import current_app

revision = "0030_search"
down_revision = "0029_workspace_logos"
branch_labels = None
depends_on = None


def upgrade() -> None:
    migration = op.get_context()
    if migration.as_sql:
        return
    is_postgresql = migration.dialect.name == "postgresql"
    with migration.autocommit_block() if is_postgresql else nullcontext():
        current_app.extensions["frontdesk"].change_search_indexes(op.get_bind(), create=True)


def downgrade() -> None:
    if not op.get_context().as_sql:
        current_app.extensions["frontdesk"].change_search_indexes(op.get_bind(), create=False)
