"""Gives notifications a link, a kind, data, a workspace and a key, stores what accounts have seen
and what they turned off, and creates the tables of banners.

On PostgreSQL, the index is created outside of a transaction, after everything else is committed. A
migration that was interrupted can run again and then only creates the index.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from flask import current_app

revision = "0033_notifications"
down_revision = "0032_removed_features"
branch_labels = None
depends_on = None

SEEN = "frontdesk_notification_seen"
OPTOUTS = "frontdesk_notification_optouts"
NOTIFICATIONS, MESSAGES = "frontdesk_notifications", "frontdesk_outgoing_messages"
KEYS = "frontdesk_notification_keys"
WORKSPACE_KEY = f"fk_{NOTIFICATIONS}_workspace_id"
WORKSPACE_INDEX = f"ix_{NOTIFICATIONS}_workspace_id"
HAS_WORKSPACE = sa.text("workspace_id IS NOT NULL")
Id = sa.BigInteger().with_variant(sa.Integer, "sqlite")
Moment = sa.DateTime(timezone=True)
BANNERS, DISMISSALS = "frontdesk_banners", "frontdesk_banner_dismissals"


def upgrade() -> None:
    if not is_interrupted():
        add_notification_fields()
        create_seen_marks()
        create_optouts()
        create_banners()
        create_notification_keys()
    create_workspace_index()


def downgrade() -> None:
    drop_banners()
    op.drop_table(OPTOUTS)
    op.drop_table(SEEN)
    op.drop_table(KEYS)
    drop_notification_fields()


def is_interrupted() -> bool:
    """Return whether an earlier run of this migration has committed everything but the index."""
    if op.get_context().as_sql:
        return False
    columns = sa.inspect(op.get_bind()).get_columns(NOTIFICATIONS)
    return "workspace_id" in {column["name"] for column in columns}


def add_notification_fields() -> None:
    for table in (NOTIFICATIONS, MESSAGES):
        op.add_column(table, sa.Column("url", sa.String(2000), nullable=True))
        op.add_column(table, sa.Column("kind", sa.String(50), nullable=True))
        op.add_column(table, sa.Column("data", sa.JSON, nullable=True))
    op.add_column(MESSAGES, sa.Column("email_if_unread_at", Moment, nullable=True))
    if is_postgresql() or op.get_context().as_sql:
        # The key of a new column without values is valid at once: PostgreSQL reads no row.
        op.execute(
            f"ALTER TABLE {NOTIFICATIONS} ADD COLUMN workspace_id BIGINT CONSTRAINT {WORKSPACE_KEY}"
            " REFERENCES frontdesk_workspaces (id) ON DELETE SET NULL"
        )
        return
    # SQLite gives a column a key with a name only by copying the table.
    highest = highest_id()
    with op.batch_alter_table(NOTIFICATIONS, table_kwargs={"sqlite_autoincrement": True}) as table:
        table.add_column(sa.Column("workspace_id", Id, nullable=True))
        table.create_foreign_key(
            WORKSPACE_KEY, "frontdesk_workspaces", ["workspace_id"], ["id"], ondelete="SET NULL"
        )
    restore_highest_id(highest)


def create_seen_marks() -> None:
    accounts = current_app.extensions["frontdesk"].accounts_in_migrations
    op.create_table(
        SEEN,
        sa.Column("account_id", accounts.type, autoincrement=False, nullable=False),
        sa.Column("item_id", Id, nullable=False),
        sa.PrimaryKeyConstraint("account_id", name=f"pk_{SEEN}"),
        sa.ForeignKeyConstraint(
            ["account_id"], [accounts.id], name=f"fk_{SEEN}_account_id", ondelete="CASCADE"
        ),
    )


def create_notification_keys() -> None:
    op.create_table(
        KEYS,
        sa.Column("id", Id, nullable=False),
        sa.Column("scope", sa.String(255), nullable=False),
        sa.Column("key", sa.String(255), nullable=False),
        sa.Column("fingerprint", sa.String(64), nullable=False),
        sa.Column("notification_id", Id, nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=f"pk_{KEYS}"),
        sa.UniqueConstraint("scope", "key", name=f"uq_{KEYS}_scope_key"),
        sqlite_autoincrement=True,
    )
    op.create_index(f"ix_{KEYS}_notification_id", KEYS, ["notification_id"])


def create_optouts() -> None:
    accounts = current_app.extensions["frontdesk"].accounts_in_migrations
    op.create_table(
        OPTOUTS,
        sa.Column("kind", sa.String(50), nullable=False),
        sa.Column("channel", sa.String(50), nullable=False),
        sa.Column("account_id", accounts.type, autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("kind", "channel", "account_id", name=f"pk_{OPTOUTS}"),
        sa.ForeignKeyConstraint(
            ["account_id"], [accounts.id], name=f"fk_{OPTOUTS}_account_id", ondelete="CASCADE"
        ),
    )
    op.create_index(f"ix_{OPTOUTS}_account_id", OPTOUTS, ["account_id"])


def drop_notification_fields() -> None:
    op.drop_index(WORKSPACE_INDEX, NOTIFICATIONS)
    highest = None if is_postgresql() else highest_id()
    with op.batch_alter_table(NOTIFICATIONS, table_kwargs={"sqlite_autoincrement": True}) as table:
        table.drop_constraint(WORKSPACE_KEY, type_="foreignkey")
        table.drop_column("workspace_id")
    restore_highest_id(highest)
    op.drop_column(MESSAGES, "email_if_unread_at")
    for table_name in (NOTIFICATIONS, MESSAGES):
        for column in ("data", "kind", "url"):
            op.drop_column(table_name, column)


def create_banners() -> None:
    accounts = current_app.extensions["frontdesk"].accounts_in_migrations
    op.create_table(
        BANNERS,
        sa.Column("id", Id, nullable=False),
        sa.Column("text", sa.String(500), nullable=False),
        sa.Column("url", sa.String(2000)),
        sa.Column("level", sa.String(10), nullable=False),
        sa.Column("audience", sa.JSON, nullable=False),
        sa.Column("starts_at", Moment, nullable=False),
        sa.Column("ends_at", Moment),
        sa.Column("dismissible", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("id", name=f"pk_{BANNERS}"),
        sqlite_autoincrement=True,
    )
    op.create_index(f"ix_{BANNERS}_ends_at", BANNERS, ["ends_at"])
    op.create_table(
        DISMISSALS,
        sa.Column("id", Id, nullable=False),
        sa.Column("account_id", accounts.type, nullable=False),
        sa.Column("banner_id", Id, nullable=False),
        sa.Column("dismissed_at", Moment, nullable=False),
        sa.PrimaryKeyConstraint("id", name=f"pk_{DISMISSALS}"),
        sa.ForeignKeyConstraint(
            ["account_id"], [accounts.id], name=f"fk_{DISMISSALS}_account_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["banner_id"], [f"{BANNERS}.id"], name=f"fk_{DISMISSALS}_banner_id", ondelete="CASCADE"
        ),
        sa.UniqueConstraint(
            "account_id", "banner_id", name=f"uq_{DISMISSALS}_account_id_banner_id"
        ),
    )
    op.create_index(f"ix_{DISMISSALS}_banner_id", DISMISSALS, ["banner_id"])


def drop_banners() -> None:
    op.drop_table(DISMISSALS)
    op.drop_table(BANNERS)


def create_workspace_index() -> None:
    if not is_postgresql():
        op.create_index(
            WORKSPACE_INDEX, NOTIFICATIONS, ["workspace_id"], sqlite_where=HAS_WORKSPACE
        )
        return
    with op.get_context().autocommit_block():
        op.drop_index(WORKSPACE_INDEX, NOTIFICATIONS, if_exists=True, postgresql_concurrently=True)
        op.create_index(
            WORKSPACE_INDEX,
            NOTIFICATIONS,
            ["workspace_id"],
            postgresql_where=HAS_WORKSPACE,
            postgresql_concurrently=True,
        )


def is_postgresql() -> bool:
    return op.get_context().dialect.name == "postgresql"


def highest_id() -> int | None:
    """Return the highest id that a notification on SQLite has had: copying the table forgets it."""
    last = sa.text(f"SELECT seq FROM sqlite_sequence WHERE name = '{NOTIFICATIONS}'")
    return op.get_bind().scalar(last)


def restore_highest_id(highest: int | None) -> None:
    if highest is not None:
        op.execute(f"DELETE FROM sqlite_sequence WHERE name = '{NOTIFICATIONS}'")
        op.execute(
            f"INSERT INTO sqlite_sequence (name, seq) VALUES ('{NOTIFICATIONS}', {int(highest)})"
        )
