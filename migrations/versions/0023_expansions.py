"""Large broadcasts whose receivers' rows are stored by a worker."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0023_expansions"
down_revision = "0022_installation"
branch_labels = None
depends_on = None

Id = sa.BigInteger().with_variant(sa.Integer, "sqlite")
PENDING = sa.text("state = 'pending'")


def upgrade() -> None:
    op.create_table(
        "frontdesk_expansions",
        sa.Column("id", Id, nullable=False),
        sa.Column("notification_id", Id, nullable=False),
        sa.Column("audience", sa.JSON, nullable=False),
        sa.Column("channels", sa.JSON, nullable=False),
        sa.Column("outgoing_id", Id, nullable=True),
        sa.Column("last_id", Id, nullable=True),
        sa.Column("last_created_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("position", sa.String(255), nullable=True),
        sa.Column("stored", Id, nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("attempts", sa.SmallInteger, nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("claim", sa.String(32), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_frontdesk_expansions"),
        sa.ForeignKeyConstraint(
            ["notification_id"],
            ["frontdesk_notifications.id"],
            name="fk_frontdesk_expansions_notification_id",
            ondelete="CASCADE",
        ),
        sa.UniqueConstraint("notification_id", name="uq_frontdesk_expansions_notification_id"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_frontdesk_expansions_queue",
        "frontdesk_expansions",
        ["due_at"],
        sqlite_where=PENDING,
        postgresql_where=PENDING,
    )


def downgrade() -> None:
    op.drop_table("frontdesk_expansions")
