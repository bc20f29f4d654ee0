"""Creates the tables of personal tokens and of workspaces' tokens."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from flask import current_app

revision = "0034_tokens"
down_revision = "0033_notifications"
branch_labels = None
depends_on = None

PERSONAL = "frontdesk_personal_tokens"
WORKSPACES = "frontdesk_workspace_tokens"
MEMBERS = "frontdesk_workspace_members"
HAS_REMINDER = sa.text("remind_at IS NOT NULL")
Id = sa.BigInteger().with_variant(sa.Integer, "sqlite")
Moment = sa.DateTime(timezone=True)


def upgrade() -> None:
    create_personal_tokens()
    create_workspace_tokens()


def downgrade() -> None:
    op.drop_table(WORKSPACES)
    op.drop_table(PERSONAL)


def token_columns() -> list[sa.Column[Any]]:
    return [
        sa.Column("id", Id, nullable=False),
        sa.Column("name", sa.String(80), nullable=False),
        sa.Column("prefix", sa.String(8), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("scopes", sa.Text, nullable=False),
        sa.Column("created_at", Moment, nullable=False),
        sa.Column("expires_at", Moment, nullable=False),
        sa.Column("last_used_at", Moment),
        sa.Column("ended_at", Moment),
        sa.Column("networks", sa.String(1000), nullable=False),
        sa.Column("network_at", Moment),
    ]


def create_personal_tokens() -> None:
    accounts = current_app.extensions["frontdesk"].accounts_in_migrations
    op.create_table(
        PERSONAL,
        *token_columns(),
        sa.Column("account_id", accounts.type, nullable=False),
        sa.Column("workspace_id", Id),
        sa.Column("remind_at", Moment),
        sa.PrimaryKeyConstraint("id", name=f"pk_{PERSONAL}"),
        sa.UniqueConstraint("digest", name=f"uq_{PERSONAL}_digest"),
        sa.ForeignKeyConstraint(
            ["account_id"], [accounts.id], name=f"fk_{PERSONAL}_account_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id", "account_id"],
            [f"{MEMBERS}.workspace_id", f"{MEMBERS}.account_id"],
            name=f"fk_{PERSONAL}_workspace_id_account_id",
            ondelete="CASCADE",
        ),
        sqlite_autoincrement=True,
    )
    op.create_index(f"ix_{PERSONAL}_account_id", PERSONAL, ["account_id", "id"])
    op.create_index(f"ix_{PERSONAL}_expires_at", PERSONAL, ["expires_at"])
    op.create_index(
        f"ix_{PERSONAL}_remind_at",
        PERSONAL,
        ["remind_at"],
        postgresql_where=HAS_REMINDER,
        sqlite_where=HAS_REMINDER,
    )


def create_workspace_tokens() -> None:
    op.create_table(
        WORKSPACES,
        *token_columns(),
        sa.Column("workspace_id", Id, nullable=False),
        sa.Column("type", sa.String(20), nullable=False),
        sa.PrimaryKeyConstraint("id", name=f"pk_{WORKSPACES}"),
        sa.UniqueConstraint("digest", name=f"uq_{WORKSPACES}_digest"),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["frontdesk_workspaces.id"],
            name=f"fk_{WORKSPACES}_workspace_id",
            ondelete="CASCADE",
        ),
        sqlite_autoincrement=True,
    )
    op.create_index(f"ix_{WORKSPACES}_workspace_id", WORKSPACES, ["workspace_id", "id"])
    op.create_index(f"ix_{WORKSPACES}_expires_at", WORKSPACES, ["expires_at"])
