"""Suspensions that end by themselves, and what administrators search accounts by.

The indexes are for the service's own table; a host adds to its own what it needs (docs/administration.md). On
PostgreSQL they are made while others write, outside of any transaction: what was broken off is made anew.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import sqlalchemy as sa
from alembic import op
from flask import current_app

revision = "0017_administration"
down_revision = "0016_events"
branch_labels = None
depends_on = None

DELIVERIES = {"ix_frontdesk_deliveries_receiver_id": (["receiver_id", "id"], {})}


def rare(condition: str, *columns: str) -> tuple[list[str], dict[str, Any]]:
    where = sa.text(condition)
    return list(columns), {"sqlite_where": where, "postgresql_where": where}


ACCOUNTS: dict[str, tuple[list[str], dict[str, Any]]] = {
    "ix_accounts_created_at": (["created_at", "id"], {}),
    "ix_accounts_email": (["email"], {"postgresql_ops": {"email": 'COLLATE "C"'}}),
    "ix_accounts_last_login_date": (["last_login_date", "id"], {}),
    "ix_accounts_phone": rare("phone IS NOT NULL", "phone"),
    "ix_accounts_role": rare("role <> 'user'", "role", "created_at", "id"),
    "ix_accounts_status": rare("status <> 'active'", "status", "created_at", "id"),
    "ix_accounts_unverified": rare("email_unverified_since IS NOT NULL", "created_at", "id"),
}


def upgrade() -> None:
    accounts = current_app.extensions["frontdesk"].accounts_in_migrations
    accounts.add_column(sa.Column("suspended_until", sa.DateTime(timezone=True), nullable=True))
    accounts.add_column(sa.Column("suspended_reason", sa.String(500), nullable=True))
    is_postgresql = op.get_context().dialect.name == "postgresql"
    with op.get_context().autocommit_block() if is_postgresql else nullcontext():
        create("frontdesk_deliveries", DELIVERIES)
        if current_app.extensions["frontdesk"].owns_application:
            create("accounts", ACCOUNTS)


def create(table: str, indexes: dict[str, tuple[list[str], dict[str, Any]]]) -> None:
    for name, (columns, options) in indexes.items():
        op.drop_index(name, table, if_exists=True, postgresql_concurrently=True)
        op.create_index(name, table, columns, postgresql_concurrently=True, **options)


def downgrade() -> None:
    accounts = current_app.extensions["frontdesk"].accounts_in_migrations
    if current_app.extensions["frontdesk"].owns_application:
        for name in ACCOUNTS:
            op.drop_index(name, "accounts")
    for name in DELIVERIES:
        op.drop_index(name, "frontdesk_deliveries")
    accounts.drop_column("suspended_reason")
    accounts.drop_column("suspended_until")
