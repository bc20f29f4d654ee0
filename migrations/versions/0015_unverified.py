"""Accounts whose address is still to be proven; unset for all that are there."""

from __future__ import annotations

import sqlalchemy as sa
from flask import current_app

revision = "0015_unverified"
down_revision = "0014_longer_hashes"
branch_labels = None
depends_on = None


def upgrade() -> None:
    accounts = current_app.extensions["frontdesk"].accounts_in_migrations
    accounts.add_column(
        sa.Column("email_unverified_since", sa.DateTime(timezone=True), nullable=True)
    )


def downgrade() -> None:
    accounts = current_app.extensions["frontdesk"].accounts_in_migrations
    accounts.drop_column("email_unverified_since")
