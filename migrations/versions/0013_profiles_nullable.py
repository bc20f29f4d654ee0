"""What a profile must have is said by the application's schema, and no longer by the table."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013_profiles_nullable"
down_revision = "0012_invitations"
branch_labels = None
depends_on = None

COLUMNS = {
    "first_name": sa.String(100),
    "last_name": sa.String(100),
    "date_of_birth": sa.Date(),
    "gender": sa.String(50),
    "marital_status": sa.String(50),
}


def upgrade() -> None:
    change(nullable=True)


def downgrade() -> None:
    # The version before has no profile without them: nothing is said, and nobody's day of birth.
    for name in COLUMNS:
        empty = "0001-01-01" if name == "date_of_birth" else ""
        op.execute(f"UPDATE frontdesk_profiles SET {name} = '{empty}' WHERE {name} IS NULL")
    change(nullable=False)


def change(*, nullable: bool) -> None:
    """SQLite copies the table, which loses the highest id that a row has had; PostgreSQL writes
    nothing but its catalogue, and reads the rows on the way down."""
    connection = op.get_bind()
    is_sqlite = connection.dialect.name == "sqlite"
    last = "SELECT seq FROM sqlite_sequence WHERE name = 'frontdesk_profiles'"
    highest = connection.scalar(sa.text(last)) if is_sqlite else None
    with op.batch_alter_table("frontdesk_profiles", table_kwargs={"sqlite_autoincrement": True}) as batch:
        for name, kind in COLUMNS.items():
            batch.alter_column(name, existing_type=kind, nullable=nullable)
    if highest is not None:
        op.execute("DELETE FROM sqlite_sequence WHERE name = 'frontdesk_profiles'")
        op.execute(f"INSERT INTO sqlite_sequence (name, seq) VALUES ('frontdesk_profiles', {int(highest)})")
