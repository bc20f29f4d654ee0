"""Tasks, and the keystore for those who keep it in the database."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001_tasks"
down_revision = None
branch_labels = ("frontdesk",)
depends_on = None

Id = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    _create_keystore()
    op.create_table(
        "frontdesk_tasks",
        sa.Column("id", Id, nullable=False),
        sa.Column("title", sa.String(200), nullable=False),
        sa.Column("done", sa.Boolean, nullable=False),
        sa.Column("priority", sa.String(50), nullable=False),
        sa.Column("owner", sa.String(255), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_frontdesk_tasks"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_frontdesk_tasks_owner_id", "frontdesk_tasks", ["owner", "id"])


def _create_keystore() -> None:
    op.create_table(
        "frontdesk_keystore_entries",
        sa.Column("key", sa.String(512), nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_frontdesk_keystore_entries"),
    )
    op.create_index("ix_frontdesk_keystore_entries_expires_at", "frontdesk_keystore_entries", ["expires_at"])


def downgrade() -> None:
    op.drop_table("frontdesk_keystore_entries")
    op.drop_table("frontdesk_tasks")
