"""Second factors: authenticators, recovery codes, and devices that are not asked for one."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from flask import current_app

revision = "0021_authenticators"
down_revision = "0020_sessions"
branch_labels = None
depends_on = None

Id = sa.BigInteger().with_variant(sa.Integer, "sqlite")
Moment = sa.DateTime(timezone=True)


def upgrade() -> None:
    _create(
        "authenticators",
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("created_at", Moment, nullable=False),
        sa.Column("confirmed_at", Moment, nullable=True),
        sa.Column("last_used_at", Moment, nullable=True),
        sa.Column("secret", sa.String(255), nullable=True),
        sa.Column("last_step", sa.BigInteger, nullable=True),
        sa.Column("user_handle", sa.LargeBinary(64), nullable=True),
        sa.Column("credential_id", sa.LargeBinary(1023), nullable=True),
        sa.Column("public_key", sa.LargeBinary, nullable=True),
        sa.Column("sign_count", sa.BigInteger, nullable=True),
        sa.Column("aaguid", sa.String(36), nullable=True),
        sa.Column("transports", sa.JSON, nullable=True),
        sa.Column("backed_up", sa.Boolean, nullable=True),
        unique="credential_id",
    )
    _create(
        "recovery_codes",
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("used_at", Moment, nullable=True),
        unique="digest",
    )
    _create(
        "trusted_devices",
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("user_agent", sa.String(255), nullable=True),
        sa.Column("ip", sa.String(45), nullable=True),
        sa.Column("created_at", Moment, nullable=False),
        sa.Column("last_used_at", Moment, nullable=True),
        sa.Column("expires_at", Moment, nullable=False),
        unique="digest",
    )


def _create(name: str, *columns: sa.Column, unique: str) -> None:
    accounts = current_app.extensions["frontdesk"].accounts_in_migrations
    table = f"frontdesk_{name}"
    op.create_table(
        table,
        sa.Column("id", Id, nullable=False),
        sa.Column("account_id", accounts.type, nullable=False),
        *columns,
        sa.PrimaryKeyConstraint("id", name=f"pk_{table}"),
        sa.UniqueConstraint(unique, name=f"uq_{table}_{unique}"),
        sa.ForeignKeyConstraint(
            ["account_id"], [accounts.id], name=f"fk_{table}_account_id", ondelete="CASCADE"
        ),
        sqlite_autoincrement=True,
    )
    op.create_index(f"ix_{table}_account_id", table, ["account_id", "id"])


def downgrade() -> None:
    op.drop_table("frontdesk_trusted_devices")
    op.drop_table("frontdesk_recovery_codes")
    op.drop_table("frontdesk_authenticators")
