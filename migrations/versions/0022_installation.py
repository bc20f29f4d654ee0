"""A random id of this installation, from which the Message-IDs of broadcasts are derived."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0022_installation"
down_revision = "0021_authenticators"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "frontdesk_installation",
        sa.Column("id", sa.SmallInteger, nullable=False, autoincrement=False),
        sa.Column("secret", sa.String(64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_frontdesk_installation"),
    )


def downgrade() -> None:
    op.drop_table("frontdesk_installation")
