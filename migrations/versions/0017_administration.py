"""Suspensions that end by themselves, and what administrators search accounts by.

The indexes are for the service's own table; a host adds to its own what it needs (docs/administration.md).
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from flask import current_app

revision = "0017_administration"
down_revision = "0016_events"
branch_labels = None
depends_on = None

RARE = {
    "ix_accounts_phone": ("phone IS NOT NULL", ["phone"]),
    "ix_accounts_role": ("role <> 'user'", ["role", "created_at", "id"]),
    "ix_accounts_status": ("status <> 'active'", ["status", "created_at", "id"]),
    "ix_accounts_unverified": ("email_unverified_since IS NOT NULL", ["created_at", "id"]),
}
RECEIVED = "ix_frontdesk_deliveries_receiver_id"


def upgrade() -> None:
    accounts = current_app.extensions["frontdesk"].accounts_in_migrations
    accounts.add_column(sa.Column("suspended_until", sa.DateTime(timezone=True), nullable=True))
    accounts.add_column(sa.Column("suspended_reason", sa.String(500), nullable=True))
    op.create_index(RECEIVED, "frontdesk_deliveries", ["receiver_id", "id"])
    if not current_app.extensions["frontdesk"].owns_application:
        return
    op.create_index("ix_accounts_created_at", "accounts", ["created_at", "id"])
    for name, (condition, columns) in RARE.items():
        where = sa.text(condition)
        op.create_index(name, "accounts", columns, sqlite_where=where, postgresql_where=where)
    op.create_index("ix_accounts_last_login_date", "accounts", ["last_login_date", "id"])
    in_bytes = {"email": 'COLLATE "C"'}
    op.create_index("ix_accounts_email", "accounts", ["email"], postgresql_ops=in_bytes)


def downgrade() -> None:
    accounts = current_app.extensions["frontdesk"].accounts_in_migrations
    if current_app.extensions["frontdesk"].owns_application:
        for name in ["ix_accounts_email", "ix_accounts_last_login_date", *RARE, "ix_accounts_created_at"]:
            op.drop_index(name, "accounts")
    op.drop_index(RECEIVED, "frontdesk_deliveries")
    accounts.drop_column("suspended_reason")
    accounts.drop_column("suspended_until")
