"""The upgrade of a migration that removes Frontdesk from the database."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

# [remove]
COLUMNS = {
    "phone",
    "last_login_date",
    "current_workspace_id",
    "tokens_valid_from",
    "logged_out_at",
    "email_unverified_since",
    "suspended_until",
    "suspended_reason",
    "locale",
    "time_zone",
}


def upgrade() -> None:
    found = sa.MetaData()
    found.reflect(op.get_bind())
    removed = [table for table in found.sorted_tables if table.name.startswith("frontdesk_")]
    # Your own references to Frontdesk's tables, such as workspaces. The values stay.
    for table in found.sorted_tables:
        for key in table.foreign_key_constraints:
            if table not in removed and key.referred_table in removed:
                with op.batch_alter_table(table.name) as changed:
                    changed.drop_constraint(str(key.name), type_="foreignkey")
    for table in reversed(removed):
        op.drop_table(table.name)
    accounts = found.tables["accounts"]
    for index in accounts.indexes:
        if COLUMNS & {column.name for column in index.columns}:
            op.drop_index(str(index.name), "accounts")
    # In place: if SQLite copies the table, rows that refer to it can be lost.
    for name in COLUMNS & set(accounts.columns.keys()):
        op.drop_column("accounts", name)


def downgrade() -> None:
    raise NotImplementedError("Restore the backup.")


# [end]
