"""Who signs in to an account through an identity provider, by issuer and subject."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from flask import current_app

revision = "0010_identities"
down_revision = "0008_outbox_subject"
branch_labels = None
depends_on = None

Id = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    accounts = current_app.extensions["frontdesk"].accounts_in_migrations
    op.create_table(
        "frontdesk_identities",
        sa.Column("id", Id, nullable=False),
        sa.Column("account_id", accounts.type, nullable=False),
        sa.Column("provider", sa.String(50), nullable=False),
        sa.Column("issuer", sa.String(255), nullable=False),
        sa.Column("subject", sa.String(255), nullable=False),
        sa.Column("email", sa.String(320), nullable=False),
        sa.Column("linked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_frontdesk_identities"),
        sa.ForeignKeyConstraint(
            ["account_id"],
            [accounts.id],
            name="fk_frontdesk_identities_account_id",
            ondelete="CASCADE",
        ),
        sa.UniqueConstraint("issuer", "subject", name="uq_frontdesk_identities_issuer_subject"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_frontdesk_identities_account_id", "frontdesk_identities", ["account_id"])


def downgrade() -> None:
    op.drop_table("frontdesk_identities")
