"""Creates the tables of roles, memberships and sessions that identity providers give."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0035_identity_providers"
down_revision = "0034_tokens"
branch_labels = None
depends_on = None

GRANTS = "frontdesk_provider_grants"
SESSIONS = "frontdesk_provider_sessions"
Id = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    create_grants()
    create_sessions()


def downgrade() -> None:
    op.drop_table(SESSIONS)
    op.drop_table(GRANTS)


def of_identity(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["identity_id"],
        ["frontdesk_identities.id"],
        name=f"fk_{table}_identity_id",
        ondelete="CASCADE",
    )


def create_grants() -> None:
    op.create_table(
        GRANTS,
        sa.Column("id", Id, nullable=False),
        sa.Column("identity_id", Id, nullable=False),
        sa.Column("workspace_id", Id),
        sa.Column("granted", sa.String(50), nullable=False),
        sa.Column("former", sa.String(50)),
        sa.Column("granted_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=f"pk_{GRANTS}"),
        of_identity(GRANTS),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["frontdesk_workspaces.id"],
            name=f"fk_{GRANTS}_workspace_id",
            ondelete="CASCADE",
        ),
        sqlite_autoincrement=True,
    )
    op.create_index(f"ix_{GRANTS}_identity_id", GRANTS, ["identity_id"])
    op.create_index(f"ix_{GRANTS}_workspace_id", GRANTS, ["workspace_id"])


def create_sessions() -> None:
    op.create_table(
        SESSIONS,
        sa.Column("session_id", Id, nullable=False),
        sa.Column("identity_id", Id, nullable=False),
        sa.Column("sid", sa.String(255)),
        sa.Column("id_token", sa.Text),
        sa.PrimaryKeyConstraint("session_id", name=f"pk_{SESSIONS}"),
        sa.ForeignKeyConstraint(
            ["session_id"],
            ["frontdesk_sessions.id"],
            name=f"fk_{SESSIONS}_session_id",
            ondelete="CASCADE",
        ),
        of_identity(SESSIONS),
    )
    op.create_index(f"ix_{SESSIONS}_identity_id", SESSIONS, ["identity_id"])
    op.create_index(f"ix_{SESSIONS}_sid", SESSIONS, ["sid"])
