"""Users and notes, before Frontdesk."""

import sqlalchemy as sa
from alembic import op

revision = "0001_pinboard"
down_revision = None
branch_labels = ("pinboard",)
depends_on = None


def upgrade() -> None:
    op.create_table(
        "users",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("mail", sa.String, nullable=False, unique=True),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("hashed", sa.String, nullable=False),
        sa.Column("is_admin", sa.Boolean, nullable=False),
        sa.Column("is_blocked", sa.Boolean, nullable=False),
    )
    op.create_table(
        "notes",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column(
            "user_id", sa.Integer, sa.ForeignKey("users.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("text", sa.String, nullable=False),
    )


def downgrade() -> None:
    op.drop_table("notes")
    op.drop_table("users")
