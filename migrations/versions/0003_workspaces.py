"""Workspaces and their members."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from flask import current_app

revision = "0003_workspaces"
down_revision = "0002_accounts"
branch_labels = None
depends_on = None

Id = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    accounts = current_app.extensions["frontdesk"].accounts_in_migrations
    op.create_table(
        "frontdesk_workspaces",
        sa.Column("id", Id, nullable=False),
        sa.Column("slug", sa.String(63), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("is_default", sa.Boolean, nullable=False),
        sa.Column("is_personal", sa.Boolean, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_frontdesk_workspaces"),
        sa.UniqueConstraint("slug", name="uq_frontdesk_workspaces_slug"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "frontdesk_workspace_members",
        sa.Column("id", Id, nullable=False),
        sa.Column("workspace_id", Id, nullable=False),
        sa.Column("account_id", accounts.type, nullable=False),
        sa.Column("type", sa.String(20), nullable=False),
        sa.Column("status", sa.String(50), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_frontdesk_workspace_members"),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["frontdesk_workspaces.id"],
            name="fk_frontdesk_workspace_members_workspace_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["account_id"],
            [accounts.id],
            name="fk_frontdesk_workspace_members_account_id",
            ondelete="CASCADE",
        ),
        sa.UniqueConstraint(
            "workspace_id", "account_id", name="uq_frontdesk_workspace_members_workspace_id_account_id"
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_frontdesk_workspace_members_account_id", "frontdesk_workspace_members", ["account_id"])


def downgrade() -> None:
    op.drop_table("frontdesk_workspace_members")
    op.drop_table("frontdesk_workspaces")
