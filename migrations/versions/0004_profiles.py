"""Profiles."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from flask import current_app

revision = "0004_profiles"
down_revision = "0003_workspaces"
branch_labels = None
depends_on = None

Id = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    accounts = current_app.extensions["frontdesk"].accounts_in_migrations
    op.create_table(
        "frontdesk_profiles",
        sa.Column("id", Id, nullable=False),
        sa.Column("account_id", accounts.type, nullable=False),
        sa.Column("first_name", sa.String(100), nullable=False),
        sa.Column("last_name", sa.String(100), nullable=False),
        sa.Column("date_of_birth", sa.Date, nullable=False),
        sa.Column("gender", sa.String(50), nullable=False),
        sa.Column("marital_status", sa.String(50), nullable=False),
        sa.Column("phone", sa.String(50), nullable=True),
        sa.Column("address", sa.String(255), nullable=True),
        sa.Column("city", sa.String(100), nullable=True),
        sa.Column("state", sa.String(100), nullable=True),
        sa.Column("country", sa.String(100), nullable=True),
        sa.Column("postal_code", sa.String(20), nullable=True),
        sa.Column("bio", sa.String(2000), nullable=True),
        sa.Column("avatar", sa.String(2048), nullable=True),
        sa.Column("avatar_file", sa.String(64), nullable=True),
        sa.Column("extra", sa.JSON, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_frontdesk_profiles"),
        sa.ForeignKeyConstraint(
            ["account_id"],
            [accounts.id],
            name="fk_frontdesk_profiles_account_id",
            ondelete="CASCADE",
        ),
        sa.UniqueConstraint("account_id", name="uq_frontdesk_profiles_account_id"),
        sa.UniqueConstraint("avatar_file", name="uq_frontdesk_profiles_avatar_file"),
        sqlite_autoincrement=True,
    )


def downgrade() -> None:
    op.drop_table("frontdesk_profiles")
