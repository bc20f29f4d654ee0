"""Room for the password hashes that accounts bring along from elsewhere."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import context, op
from flask import current_app

revision = "0014_longer_hashes"
down_revision = "0013_profiles_nullable"
branch_labels = None
depends_on = None


# The service's own table, as it is before this step.
OURS = {
    *("id", "email", "password_hash", "status", "role", "phone", "last_login_date"),
    *("current_workspace_id", "created_at", "tokens_valid_from", "logged_out_at"),
}


def upgrade() -> None:
    change(128, 255)


def downgrade() -> None:
    if is_to_change(255):
        # The version before has no room for them; their owners ask for a new password.
        op.execute("UPDATE accounts SET password_hash = NULL WHERE length(password_hash) > 128")
    change(255, 128)


def change(before: int, after: int) -> None:
    """SQLite copies the table, which loses the highest id that a row has had; PostgreSQL writes
    nothing but its catalogue, and reads the rows on the way down."""
    if not is_to_change(before):
        return
    is_sqlite = op.get_context().dialect.name == "sqlite"
    last = "SELECT seq FROM sqlite_sequence WHERE name = 'accounts'"
    highest = op.get_bind().scalar(sa.text(last)) if is_sqlite else None
    with op.batch_alter_table("accounts", table_kwargs={"sqlite_autoincrement": True}) as batch:
        batch.alter_column(
            "password_hash", existing_type=sa.String(before), type_=sa.String(after)
        )
    if highest is not None:
        op.execute("DELETE FROM sqlite_sequence WHERE name = 'accounts'")
        op.execute(f"INSERT INTO sqlite_sequence (name, seq) VALUES ('accounts', {int(highest)})")


def is_to_change(length: int) -> bool:
    """A table that a host brought is grown where that is a word in the catalogue; on SQLite, where
    no length is enforced, it is not copied for it. One of another name the host grows itself."""
    if current_app.extensions["frontdesk"].accounts_in_migrations.id != "accounts.id":
        return False
    if context.is_offline_mode():
        return True
    connection = op.get_bind()
    inspector = sa.inspect(connection)
    if not inspector.has_table("accounts"):
        return False
    columns = {column["name"]: column["type"] for column in inspector.get_columns("accounts")}
    if getattr(columns.get("password_hash"), "length", None) != length:
        return False
    return connection.dialect.name != "sqlite" or columns.keys() == OURS
