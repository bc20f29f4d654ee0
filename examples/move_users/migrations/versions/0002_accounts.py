"""Turn the users into accounts with the same ids, and update the tables that refer to them."""

import sqlalchemy as sa
from alembic import op

revision = "0002_pinboard_accounts"
down_revision = "0001_pinboard"
branch_labels = None
depends_on = None

# [move]
Id = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "accounts",
        # The columns of AccountMixin…
        sa.Column("id", Id, nullable=False),
        sa.Column("email", sa.String(320), nullable=False),
        sa.Column("password_hash", sa.String(255)),
        sa.Column("status", sa.String(50), nullable=False),
        sa.Column("role", sa.String(50), nullable=False),
        sa.Column("phone", sa.String(32)),
        sa.Column("last_login_date", sa.DateTime(timezone=True)),
        sa.Column("current_workspace_id", Id),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("tokens_valid_from", sa.DateTime(timezone=True)),
        # …and those of the application.
        sa.Column("name", sa.String(200), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_accounts"),
        sa.UniqueConstraint("email", name="uq_accounts_email"),
        sqlite_autoincrement=True,
    )
    # Email addresses are stored in lower case. Hashes of the usual libraries are copied
    # unchanged; the first sign-in replaces them with bcrypt.
    op.execute(
        """
        INSERT INTO accounts (id, email, password_hash, status, role, created_at, name)
        SELECT id, lower(mail), hashed,
               CASE WHEN is_blocked THEN 'suspended' ELSE 'active' END,
               CASE WHEN is_admin THEN 'admin' ELSE 'user' END, CURRENT_TIMESTAMP, name
        FROM users
        """
    )
    if op.get_bind().dialect.name == "postgresql":
        op.execute("SELECT setval(pg_get_serial_sequence('accounts', 'id'), max(id)) FROM accounts")
    _refer_to_accounts()
    op.drop_table("users")


def _refer_to_accounts() -> None:
    """Create a new notes table, which works alike on every database."""
    op.create_table(
        "notes_new",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("account_id", Id, nullable=False),
        sa.Column("text", sa.String, nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name="fk_notes_account_id_accounts", ondelete="CASCADE"
        ),
    )
    op.execute("INSERT INTO notes_new SELECT id, user_id, text FROM notes")
    op.drop_table("notes")
    op.rename_table("notes_new", "notes")


# [end]


def downgrade() -> None:
    raise NotImplementedError("Bring back the database from before: hashes and names were dropped.")
