"""Accounts: a table for the service, and for a host that has none yet."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import context, op
from flask import current_app

revision = "0002_accounts"
down_revision = "0001_tasks"
branch_labels = None
depends_on = None

Id = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    accounts = current_app.extensions["frontdesk"].accounts_in_migrations
    if not context.is_offline_mode() and accounts.is_in(op.get_bind()):
        return
    if not accounts.is_as_ours:
        raise RuntimeError(
            f"The table of accounts {accounts.id!r} is not there: make it first, in a migration of"
            " the application's own (flask db upgrade YOURS@head)."
        )
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
