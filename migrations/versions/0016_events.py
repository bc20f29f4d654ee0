"""Who did what: a row for each deed, without foreign keys, so that it outlives what it names."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from flask import current_app

revision = "0016_events"
down_revision = "0015_unverified"
branch_labels = None
depends_on = None

EVENTS = "frontdesk_events"
Id = sa.BigInteger().with_variant(sa.Integer, "sqlite")
IS_RARE = sa.text("type <> 'login.succeeded'")
IN_A_WORKSPACE = sa.text("workspace_id IS NOT NULL")
HAS_A_TARGET = sa.text("target_id IS NOT NULL")


def upgrade() -> None:
    accounts = current_app.extensions["frontdesk"].accounts_in_migrations
    op.create_table(
        EVENTS,
        sa.Column("id", Id, nullable=False),
        sa.Column("type", sa.String(64), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor_kind", sa.String(20), nullable=False),
        sa.Column("actor_id", accounts.type, nullable=True),
        sa.Column("account_id", accounts.type, nullable=True),
        sa.Column("workspace_id", Id, nullable=True),
        sa.Column("target_kind", sa.String(64), nullable=True),
        sa.Column("target_id", sa.String(255), nullable=True),
        sa.Column("address", sa.String(45), nullable=True),
        sa.Column("user_agent", sa.String(255), nullable=True),
        sa.Column("request_id", sa.String(128), nullable=True),
        sa.Column("data", sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_frontdesk_events"),
    )
    op.create_index("ix_frontdesk_events_at", EVENTS, ["at", "id"])
    op.create_index(
        "ix_frontdesk_events_type",
        EVENTS,
        ["type", "at", "id"],
        sqlite_where=IS_RARE,
        postgresql_where=IS_RARE,
    )
    op.create_index("ix_frontdesk_events_actor_id", EVENTS, ["actor_id", "at", "id"])
    op.create_index("ix_frontdesk_events_account_id", EVENTS, ["account_id", "at", "id"])
    op.create_index(
        "ix_frontdesk_events_workspace_id",
        EVENTS,
        ["workspace_id", "at", "id"],
        sqlite_where=IN_A_WORKSPACE,
        postgresql_where=IN_A_WORKSPACE,
    )
    op.create_index(
        "ix_frontdesk_events_target",
        EVENTS,
        ["target_kind", "target_id", "at", "id"],
        sqlite_where=HAS_A_TARGET,
        postgresql_where=HAS_A_TARGET,
    )


def downgrade() -> None:
    op.drop_table(EVENTS)
