"""Where an account's owner lives and what they read, changes of their address, and their going."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from flask import current_app

revision = "0018_changes"
down_revision = "0017_administration"
branch_labels = None
depends_on = None

Id = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    accounts = current_app.extensions["frontdesk"].accounts_in_migrations
    accounts.add_column(sa.Column("locale", sa.String(35), nullable=True))
    accounts.add_column(sa.Column("time_zone", sa.String(64), nullable=True))
    op.create_table(
        "frontdesk_email_changes",
        sa.Column("id", Id, nullable=False),
        sa.Column("account_id", accounts.type, nullable=False),
        sa.Column("old_email", sa.String(320), nullable=False),
        sa.Column("new_email", sa.String(320), nullable=False),
        sa.Column("is_undoable", sa.Boolean, nullable=False),
        sa.Column("requested_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("confirmed_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_frontdesk_email_changes"),
        sa.ForeignKeyConstraint(
            ["account_id"],
            [accounts.id],
            name="fk_frontdesk_email_changes_account_id",
            ondelete="CASCADE",
        ),
        sqlite_autoincrement=True,
    )
    for column in ("account_id", "new_email"):
        name = f"ix_frontdesk_email_changes_{column}"
        op.create_index(name, "frontdesk_email_changes", [column])
    op.create_table(
        "frontdesk_account_deletions",
        sa.Column("id", Id, nullable=False),
        sa.Column("account_id", accounts.type, nullable=False),
        sa.Column("former_status", sa.String(50), nullable=False),
        sa.Column("deletes_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_frontdesk_account_deletions"),
        sa.UniqueConstraint("account_id", name="uq_frontdesk_account_deletions_account_id"),
        sa.ForeignKeyConstraint(
            ["account_id"],
            [accounts.id],
            name="fk_frontdesk_account_deletions_account_id",
            ondelete="CASCADE",
        ),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_frontdesk_account_deletions_deletes_at", "frontdesk_account_deletions", ["deletes_at"]
    )


def downgrade() -> None:
    accounts = current_app.extensions["frontdesk"].accounts_in_migrations
    op.drop_table("frontdesk_account_deletions")
    op.drop_table("frontdesk_email_changes")
    accounts.drop_column("time_zone")
    accounts.drop_column("locale")
