"""What a message in the outbox is about is named, and no longer referred to by a foreign key."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008_outbox_subject"
down_revision = "0007_standing"
branch_labels = None
depends_on = None

Id = sa.BigInteger().with_variant(sa.Integer, "sqlite")
TABLE = "frontdesk_outgoing_messages"
INDEX = "ix_frontdesk_outgoing_messages_subject"
OLD_INDEX = "ix_frontdesk_outgoing_messages_notification_id"
OLD_KEY = "fk_frontdesk_outgoing_messages_notification_id"
# SQLite cannot drop a foreign key but by copying the table: a row for each message.
COPIED = {"sqlite_autoincrement": True}


def upgrade() -> None:
    op.add_column(TABLE, sa.Column("subject_kind", sa.String(30), nullable=True))
    op.add_column(TABLE, sa.Column("subject_id", Id, nullable=True))
    op.execute(
        "UPDATE frontdesk_outgoing_messages SET subject_kind = 'notification', subject_id = notification_id"
        " WHERE notification_id IS NOT NULL"
    )
    with op.batch_alter_table(TABLE, table_kwargs=COPIED) as table:
        table.drop_index(OLD_INDEX)
        table.drop_constraint(OLD_KEY, type_="foreignkey")
        table.drop_column("notification_id")
    op.create_index(INDEX, TABLE, ["subject_kind", "subject_id"])
    op.execute("ALTER TABLE frontdesk_notifications RENAME COLUMN standing TO counts")


def downgrade() -> None:
    op.execute("ALTER TABLE frontdesk_notifications RENAME COLUMN counts TO standing")
    op.drop_index(INDEX, TABLE)
    op.add_column(TABLE, sa.Column("notification_id", Id, nullable=True))
    # What is about anything else is kept until it is sent, as what is about nothing.
    op.execute(
        "UPDATE frontdesk_outgoing_messages SET notification_id = subject_id"
        " WHERE subject_kind = 'notification'"
        " AND subject_id IN (SELECT id FROM frontdesk_notifications)"
    )
    with op.batch_alter_table(TABLE, table_kwargs=COPIED) as table:
        table.drop_column("subject_kind")
        table.drop_column("subject_id")
        table.create_foreign_key(
            OLD_KEY, "frontdesk_notifications", ["notification_id"], ["id"], ondelete="CASCADE"
        )
    op.create_index(OLD_INDEX, TABLE, ["notification_id"])
