"""Logos of workspaces, and indexes for the search of admins.

On PostgreSQL, the indexes are created concurrently, outside of a transaction: an interrupted run creates them again.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0029_workspace_logos"
down_revision = "0028_deliveries_by_end"
branch_labels = None
depends_on = None

WORKSPACES, MEMBERS = "frontdesk_workspaces", "frontdesk_workspace_members"
IS_OWNER = sa.text("type = 'owner'")


def indexes(is_postgresql: bool) -> list[tuple[str, str, list[Any], dict[str, Any]]]:
    bytewise = ' COLLATE "C"' if is_postgresql else ""
    where = {"sqlite_where": IS_OWNER, "postgresql_where": IS_OWNER}
    owners = ["workspace_id", "id", "account_id"]
    return [
        ("ix_frontdesk_workspaces_logo_file", WORKSPACES, ["logo_file"], {"unique": True}),
        ("ix_frontdesk_workspaces_slug", WORKSPACES, [sa.text(f"slug{bytewise}")], {}),
        ("ix_frontdesk_workspaces_name", WORKSPACES, [sa.text(f"name{bytewise}")], {}),
        ("ix_frontdesk_workspace_members_owners", MEMBERS, owners, where),
    ]


def upgrade() -> None:
    is_postgresql = op.get_context().dialect.name == "postgresql"
    if is_postgresql:
        # An interrupted run has committed the column before the indexes.
        op.execute(f"ALTER TABLE {WORKSPACES} ADD COLUMN IF NOT EXISTS logo_file VARCHAR(64)")
    else:
        op.add_column(WORKSPACES, sa.Column("logo_file", sa.String(64), nullable=True))
    with op.get_context().autocommit_block() if is_postgresql else nullcontext():
        for name, table, columns, options in indexes(is_postgresql):
            op.drop_index(name, table, if_exists=True, postgresql_concurrently=True)
            op.create_index(name, table, columns, postgresql_concurrently=True, **options)


def downgrade() -> None:
    for name, table, *_ in indexes(False):
        op.drop_index(name, table)
    op.drop_column(WORKSPACES, "logo_file")
