"""A logout on the account's row, so that it outlives the keystore's memory."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from flask import current_app

revision = "0006_logged_out"
down_revision = "0005_notifications"
branch_labels = None
depends_on = None


def upgrade() -> None:
    accounts = current_app.extensions["frontdesk"].accounts_in_migrations
    # A nullable column without a default: neither database rewrites the table for it.
    accounts.add_column(sa.Column("logged_out_at", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    accounts = current_app.extensions["frontdesk"].accounts_in_migrations
    accounts.drop_column("logged_out_at")
