"""Invitations into a workspace, and whom a workspace counts against."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from flask import current_app

revision = "0012_invitations"
down_revision = "0010_identities"
branch_labels = None
depends_on = None

Id = sa.BigInteger().with_variant(sa.Integer, "sqlite")
PENDING = sa.text("state = 'pending'")


def upgrade() -> None:
    accounts = current_app.extensions["frontdesk"].accounts_in_migrations
    op.add_column("frontdesk_workspaces", sa.Column("creator_id", accounts.type, nullable=True))
    op.create_index("ix_frontdesk_workspaces_creator_id", "frontdesk_workspaces", ["creator_id"])
    op.create_table(
        "frontdesk_invitations",
        sa.Column("id", Id, nullable=False),
        sa.Column("workspace_id", Id, nullable=False),
        sa.Column("inviter_id", accounts.type, nullable=True),
        sa.Column("email", sa.String(320), nullable=False),
        sa.Column("type", sa.String(20), nullable=False),
        sa.Column("message", sa.String(500), nullable=True),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("sends", sa.Integer, nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_frontdesk_invitations"),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["frontdesk_workspaces.id"],
            name="fk_frontdesk_invitations_workspace_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["inviter_id"],
            [accounts.id],
            name="fk_frontdesk_invitations_inviter_id",
            ondelete="SET NULL",
        ),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "uq_frontdesk_invitations_pending",
        "frontdesk_invitations",
        ["workspace_id", "email"],
        unique=True,
        sqlite_where=PENDING,
        postgresql_where=PENDING,
    )
    op.create_index("ix_frontdesk_invitations_workspace_id", "frontdesk_invitations", ["workspace_id", "id"])
    op.create_index("ix_frontdesk_invitations_inviter_id", "frontdesk_invitations", ["inviter_id"])
    op.create_index("ix_frontdesk_invitations_email", "frontdesk_invitations", ["email"])


def downgrade() -> None:
    op.drop_table("frontdesk_invitations")
    op.drop_index("ix_frontdesk_workspaces_creator_id", "frontdesk_workspaces")
    op.drop_column("frontdesk_workspaces", "creator_id")
