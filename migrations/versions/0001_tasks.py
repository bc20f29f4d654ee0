"""Tasks, and the keystore for those who keep it in the database. A host's own `tasks` stays."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import context, op

revision = "0001_tasks"
down_revision = None
branch_labels = ("frontdesk",)
depends_on = None

Id = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    _create_keystore()
    if not context.is_offline_mode() and sa.inspect(op.get_bind()).has_table("tasks"):
        return
    op.create_table(
        "tasks",
        sa.Column("id", Id, nullable=False),
        sa.Column("title", sa.String(200), nullable=False),
        sa.Column("done", sa.Boolean, nullable=False),
        sa.Column("priority", sa.String(50), nullable=False),
        sa.Column("owner", sa.String(255), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_tasks"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_tasks_owner_id", "tasks", ["owner", "id"])


def _create_keystore() -> None:
    op.create_table(
        "keystore_entries",
        sa.Column("key", sa.String(512), nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_keystore_entries"),
    )
    op.create_index("ix_keystore_entries_expires_at", "keystore_entries", ["expires_at"])


def downgrade() -> None:
    op.drop_table("keystore_entries")
    op.drop_table("tasks")
