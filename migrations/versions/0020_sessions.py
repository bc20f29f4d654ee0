"""Sign-ins as rows, which can be listed and ended."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from flask import current_app

revision = "0020_sessions"
down_revision = "0019_exports"
branch_labels = None
depends_on = None

Id = sa.BigInteger().with_variant(sa.Integer, "sqlite")
Moment = sa.DateTime(timezone=True)
LIVE = sa.text("ended_at IS NULL")


def upgrade() -> None:
    accounts = current_app.extensions["frontdesk"].accounts_in_migrations
    op.create_table(
        "frontdesk_sessions",
        sa.Column("id", Id, nullable=False),
        sa.Column("public_id", sa.Uuid, nullable=False),
        sa.Column("account_id", accounts.type, nullable=False),
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("secret", sa.LargeBinary(32), nullable=False),
        sa.Column("counter", sa.Integer, nullable=False),
        sa.Column("refreshed_at", Moment, nullable=True),
        sa.Column("amr", sa.String(60), nullable=False),
        sa.Column("authenticated_at", Moment, nullable=False),
        sa.Column("factor_at", Moment, nullable=True),
        sa.Column("created_at", Moment, nullable=False),
        sa.Column("used_at", Moment, nullable=False),
        sa.Column("expires_at", Moment, nullable=False),
        sa.Column("ended_at", Moment, nullable=True),
        sa.Column("end_reason", sa.String(20), nullable=True),
        sa.Column("ip", sa.String(45), nullable=True),
        sa.Column("user_agent", sa.String(255), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_frontdesk_sessions"),
        sa.UniqueConstraint("public_id", name="uq_frontdesk_sessions_public_id"),
        sa.ForeignKeyConstraint(
            ["account_id"],
            [accounts.id],
            name="fk_frontdesk_sessions_account_id",
            ondelete="CASCADE",
        ),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_frontdesk_sessions_account_id",
        "frontdesk_sessions",
        ["account_id", "id"],
        sqlite_where=LIVE,
        postgresql_where=LIVE,
    )
    op.create_index("ix_frontdesk_sessions_expires_at", "frontdesk_sessions", ["expires_at"])


def downgrade() -> None:
    op.drop_table("frontdesk_sessions")
