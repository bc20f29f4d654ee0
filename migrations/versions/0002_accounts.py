"""Accounts. A host that brought a table `accounts` of its own keeps it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import context, op

revision = "0002_accounts"
down_revision = "0001_tasks"
branch_labels = None
depends_on = None

Id = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    if not context.is_offline_mode() and sa.inspect(op.get_bind()).has_table("accounts"):
        return
    op.create_table(
        "accounts",
        sa.Column("id", Id, nullable=False),
        sa.Column("email", sa.String(320), nullable=False),
        sa.Column("password_hash", sa.String(128), nullable=True),
        sa.Column("status", sa.String(50), nullable=False),
        sa.Column("role", sa.String(50), nullable=False),
        sa.Column("phone", sa.String(32), nullable=True),
        sa.Column("last_login_date", sa.DateTime(timezone=True), nullable=True),
        sa.Column("current_workspace_id", Id, nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("tokens_valid_from", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_accounts"),
        sa.UniqueConstraint("email", name="uq_accounts_email"),
        sqlite_autoincrement=True,
    )


def downgrade() -> None:
    op.drop_table("accounts")
