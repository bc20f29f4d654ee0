"""Moves and drops what was removed: saved filters, broadcasts that were stored once, and the former
indexes of the search of accounts, which are replaced.

On PostgreSQL, rows are moved and indexes are created outside of a transaction. A migration that was
interrupted can run again: each step skips what is done.
"""

from __future__ import annotations

from contextlib import contextmanager, nullcontext

import sqlalchemy as sa
from alembic import op
from flask import current_app
from sqlalchemy.dialects import postgresql, sqlite

revision = "0032_removed_features"
down_revision = "0031_shared_broadcasts"
branch_labels = None
depends_on = None

FORMER_SEARCH_INDEXES = (
    "ix_frontdesk_profiles_first_name_search",
    "ix_frontdesk_profiles_last_name_search",
)
Id = sa.BigInteger().with_variant(sa.Integer, "sqlite")

# The accounts whose inbox rows are stored in one transaction.
RANGE_SIZE = 5_000

SHARED = sa.table(
    "frontdesk_shared_broadcasts",
    sa.column("item_id"),
    sa.column("notification_id"),
    sa.column("through_id"),
)
STATES = sa.table(
    "frontdesk_shared_items",
    sa.column("receiver_id"),
    sa.column("item_id"),
    sa.column("is_read", sa.Boolean),
    sa.column("is_deleted", sa.Boolean),
)
INBOX = sa.table(
    "frontdesk_inbox", sa.column("notification_id"), sa.column("receiver_id"), sa.column("is_read")
)
NOTIFICATIONS = sa.table("frontdesk_notifications", sa.column("id"))
EXPANSIONS = sa.table("frontdesk_expansions", sa.column("notification_id"))


def upgrade() -> None:
    move_shared_broadcasts()
    op.drop_table("frontdesk_saved_filters", if_exists=True)
    create_search_indexes()


def downgrade() -> None:
    """Restore the tables without their rows."""
    drop_search_indexes()
    restore_saved_filters()
    restore_shared_broadcasts()


def outside_of_transaction():
    migration = op.get_context()
    is_postgresql = migration.dialect.name == "postgresql"
    return migration.autocommit_block() if is_postgresql else nullcontext()


def move_shared_broadcasts() -> None:
    """Give the recipients of broadcasts that were stored once inbox rows, oldest broadcast first.

    A broadcast was in the inbox of each account with an id up to `through_id`, except for accounts
    that have deleted it. Accounts that were imported later count as such.
    """
    bind = op.get_bind()
    if op.get_context().as_sql:
        op.execute(insert_items(id_of_accounts()))
    elif sa.inspect(bind).has_table(SHARED.name):
        refuse_unfinished(bind)
        with outside_of_transaction():
            for item_id in bind.scalars(sa.select(SHARED.c.item_id).order_by(SHARED.c.item_id)).all():
                while move_range(bind, item_id):
                    pass
    op.drop_table(STATES.name, if_exists=True)
    op.drop_table(SHARED.name, if_exists=True)


def refuse_unfinished(bind: sa.Connection) -> None:
    """Refuse broadcasts that have deliveries to store: a worker would store inbox rows too."""
    unfinished = SHARED.join(EXPANSIONS, EXPANSIONS.c.notification_id == SHARED.c.notification_id)
    if count := bind.scalar(sa.select(sa.func.count()).select_from(unfinished)):
        raise RuntimeError(
            f"Large broadcasts that are not sent completely: {count}. Send them with a worker of"
            " commit ffc84c54 (see `flask notifications status`) or delete them, then upgrade again."
        )


def move_range(bind: sa.Connection, item_id: int) -> bool:
    """Store rows for the highest ids of accounts that are left, and return whether there were any.

    `through_id` is lowered in the same transaction. So an interrupted migration continues where it
    stopped, and restores no item that its recipient has deleted meanwhile.
    """
    account_id, is_broadcast = id_of_accounts(), SHARED.c.item_id == item_id
    with one_transaction(bind):
        # The notification is locked, as a deletion locks it first.
        sent = SHARED.join(NOTIFICATIONS, NOTIFICATIONS.c.id == SHARED.c.notification_id)
        through = bind.scalar(
            sa.select(SHARED.c.through_id)
            .select_from(sent)
            .where(is_broadcast)
            .with_for_update(read=True, key_share=True, of=NOTIFICATIONS)
        )
        left = sa.select(account_id.label("id")).where(account_id <= through)
        highest = left.order_by(account_id.desc()).limit(RANGE_SIZE).subquery()
        first = bind.scalar(sa.select(sa.func.min(highest.c.id)))
        if first is None:
            return False
        bind.execute(insert_items(account_id, is_broadcast, account_id.between(first, through)))
        bind.execute(sa.update(SHARED).where(is_broadcast).values(through_id=first - 1))
        return True


def insert_items(account_id: sa.ColumnClause, *conditions: sa.ColumnElement[bool]) -> sa.Insert:
    accounts = account_id.table
    state = sa.and_(
        STATES.c.receiver_id == account_id, STATES.c.item_id == SHARED.c.item_id
    )
    is_read, is_deleted = (
        sa.func.coalesce(column, sa.false()) for column in (STATES.c.is_read, STATES.c.is_deleted)
    )
    items = (
        sa.select(SHARED.c.notification_id, account_id, is_read)
        .select_from(
            SHARED.join(accounts, account_id <= SHARED.c.through_id).outerjoin(STATES, state)
        )
        .where(sa.not_(is_deleted), *conditions)
        .order_by(SHARED.c.item_id, account_id)
        # An account that a request deletes must not be referred to.
        .with_for_update(read=True, key_share=True, of=accounts)
    )
    dialect = postgresql if op.get_context().dialect.name == "postgresql" else sqlite
    columns = [column.name for column in INBOX.c]
    return dialect.insert(INBOX).from_select(columns, items).on_conflict_do_nothing()


def id_of_accounts() -> sa.ColumnClause:
    accounts = current_app.extensions["frontdesk"].accounts_in_migrations
    return sa.table(accounts.name, sa.column(accounts.key), schema=accounts.schema).c[accounts.key]


@contextmanager
def one_transaction(bind: sa.Connection):
    """On SQLite, the whole upgrade is one transaction."""
    if bind.dialect.name != "postgresql":
        yield
        return
    bind.exec_driver_sql("BEGIN")
    try:
        yield
    except Exception:
        bind.exec_driver_sql("ROLLBACK")
        raise
    bind.exec_driver_sql("COMMIT")


def restore_shared_broadcasts() -> None:
    accounts = current_app.extensions["frontdesk"].accounts_in_migrations
    op.create_table(
        SHARED.name,
        sa.Column("item_id", Id, autoincrement=False, nullable=False),
        sa.Column("notification_id", Id, nullable=False),
        sa.Column("through_id", accounts.type, nullable=False),
        sa.PrimaryKeyConstraint("item_id", name=f"pk_{SHARED.name}"),
        sa.ForeignKeyConstraint(
            ["notification_id"],
            ["frontdesk_notifications.id"],
            name=f"fk_{SHARED.name}_notification_id",
            ondelete="CASCADE",
        ),
        sa.UniqueConstraint("notification_id", name=f"uq_{SHARED.name}_notification_id"),
    )
    op.create_table(
        STATES.name,
        sa.Column("receiver_id", accounts.type, autoincrement=False, nullable=False),
        sa.Column("item_id", Id, autoincrement=False, nullable=False),
        sa.Column("is_read", sa.Boolean, server_default=sa.false(), nullable=False),
        sa.Column("is_deleted", sa.Boolean, server_default=sa.false(), nullable=False),
        sa.PrimaryKeyConstraint("receiver_id", "item_id", name=f"pk_{STATES.name}"),
        sa.ForeignKeyConstraint(
            ["receiver_id"], [accounts.id], name=f"fk_{STATES.name}_receiver_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["item_id"], [f"{SHARED.name}.item_id"], name=f"fk_{STATES.name}_item_id", ondelete="CASCADE"
        ),
    )
    op.create_index(f"ix_{STATES.name}_item_id", STATES.name, ["item_id"])


def restore_saved_filters() -> None:
    accounts, table = current_app.extensions["frontdesk"].accounts_in_migrations, "frontdesk_saved_filters"
    op.create_table(
        table,
        sa.Column("id", Id, nullable=False),
        sa.Column("account_id", accounts.type, nullable=False),
        sa.Column("name", sa.String(80), nullable=False),
        sa.Column("query", sa.String(1000), nullable=False),
        sa.PrimaryKeyConstraint("id", name=f"pk_{table}"),
        sa.ForeignKeyConstraint(
            ["account_id"], [accounts.id], name=f"fk_{table}_account_id", ondelete="CASCADE"
        ),
    )
    op.create_index(f"ix_{table}_account_id", table, ["account_id", "name"], unique=True)


def create_search_indexes() -> None:
    """Offline mode omits them: they depend on what the database has (see run_migrations)."""
    if op.get_context().as_sql:
        return
    with outside_of_transaction():
        for name in FORMER_SEARCH_INDEXES:
            op.drop_index(name, if_exists=True, postgresql_concurrently=True)
        current_app.extensions["frontdesk"].change_search_indexes(op.get_bind(), create=True)


def drop_search_indexes() -> None:
    if not op.get_context().as_sql:
        current_app.extensions["frontdesk"].change_search_indexes(op.get_bind(), create=False)
