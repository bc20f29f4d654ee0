"""Partitions a table, online or in one lock, and continues an interrupted run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from sqlalchemy import Connection, Engine, text

from ...errors import SetupError
from ..direct import connect_directly
from ..pooler import TRANSACTION_MODE, shares_sessions
from ..postgres import statement_timeout
from ..short_locks import repeat_until_locked
from .copy_table import add_keys, check_obstacles, create_copy, swap
from .layouts import Layout
from .live_table import LiveTable, find_table, find_work_table
from .names import execute, quoted, work_tables
from .notes import find_notes
from .online import OnlineCopy
from .permissions import copy_permissions

# One command at a time; an interrupted one holds the lock until its last statement ends.
_LOCK = 7_305_731_403
_LOCK_SECONDS = 10.0
_POLL_SECONDS = 0.2


@contextmanager
def partitioning_session(engine: Engine) -> Iterator[Connection]:
    """Yield a connection without timeouts, and with the lock of this command.

    Raises SetupError for a database without native partitions or without sessions.
    """
    if engine.dialect.name != "postgresql":
        raise SetupError("Only PostgreSQL has partitions: this application uses another database.")
    if engine.dialect.driver != "psycopg":
        raise SetupError("The command needs the driver psycopg: use postgresql+psycopg:// URLs.")
    with connect_directly(engine) as direct:
        if shares_sessions(direct.engine):
            raise SetupError(f"{TRANSACTION_MODE}.")
        connection = direct.execution_options(isolation_level="READ COMMITTED")
        with statement_timeout(connection, None):
            _lock(connection)
            try:
                yield connection
            finally:
                if not connection.invalidated:
                    connection.rollback()
                    connection.exec_driver_sql("RESET ROLE")
                    connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": _LOCK})
                    connection.commit()


def _lock(connection: Connection) -> None:
    until = time.monotonic() + _LOCK_SECONDS
    take = text("SELECT pg_try_advisory_lock(:key)")
    while not connection.scalar(take, {"key": _LOCK}):
        connection.commit()
        if time.monotonic() > until:
            raise SetupError("Another process partitions a table of this database.")
        time.sleep(_POLL_SECONDS)
    connection.commit()


def find_own_table(connection: Connection, name: str) -> LiveTable:
    """Return the table, and act as its owner from now on. Raises SetupError if it is missing."""
    table = find_table(connection, name)
    if table is None:
        raise SetupError(f"The database has no table {name}. Run `flask db upgrade`.")
    execute(connection, f"SET ROLE {quoted(table.owner)}")
    connection.commit()
    return table


def begin_online(connection: Connection, table: LiveTable, layout: Layout) -> OnlineCopy:
    """Begin to partition the table while the application uses it, or continue."""
    check_obstacles(connection, table, layout)
    connection.commit()
    work = OnlineCopy(connection, table, layout)
    work.begin()
    return work


def partition_online(work: OnlineCopy, advance: Callable[[int], object]) -> None:
    work.copy_rows(advance)
    _vacuum(work.connection, work.table.next_to(work_tables(work.table.name).copy))
    work.finish()
    drop_former(work.connection, work.table)


def partition_offline(connection: Connection, table: LiveTable, layout: Layout) -> None:
    """Partition the table in one transaction, which locks it."""
    check_obstacles(connection, table, layout)
    copy_name = table.next_to(work_tables(table.name).copy)
    if find_work_table(connection, copy_name) is not None or find_notes(connection, table):
        raise SetupError(
            f"{table.name} is being partitioned online. Run the command without --offline to"
            " continue, or with --abort to begin again."
        )
    connection.commit()

    def change() -> None:
        run = partial(execute, connection)
        for target in {key.target for key in table.foreign_keys}:
            run(f"LOCK TABLE {target} IN SHARE ROW EXCLUSIVE MODE")
        run(f"LOCK TABLE {table.sql} IN ACCESS EXCLUSIVE MODE")
        # An interrupted command could have partitioned the table.
        locked = _find_again(connection, table)
        check_obstacles(connection, locked, layout)
        copy = create_copy(connection, locked, layout)
        columns = locked.column_list
        run(f"INSERT INTO {copy.sql} ({columns}) SELECT {columns} FROM {locked.sql}")
        add_keys(connection, locked, copy, layout)
        swap(connection, locked, copy)
        connection.commit()

    repeat_until_locked(connection, change)
    drop_former(connection, table)
    _vacuum(connection, table.sql)


def _find_again(connection: Connection, table: LiveTable) -> LiveTable:
    """Return the locked table as it is now: a migration may have changed it."""
    found = find_table(connection, table.sql)
    if found is None or found.is_partitioned:
        raise SetupError(f"{table.name} was partitioned or dropped by another process.")
    return found


def abort(connection: Connection, table: LiveTable, layout: Layout) -> None:
    """Remove what an interrupted run has created. The table itself is not changed."""
    if table.is_partitioned:
        raise SetupError(f"{table.name} is partitioned: there is nothing to abort.")
    OnlineCopy(connection, table, layout).abort()


def drop_former(connection: Connection, table: LiveTable) -> bool:
    """Drop the table from before its partitions; return whether there was one."""
    former = find_table(connection, table.next_to(work_tables(table.name).former))
    connection.commit()
    if former is None or not former.is_marked:
        return False

    def drop() -> None:
        # The files are deleted after the commit, which ends the locks.
        execute(connection, f"DROP TABLE {former.sql}")
        connection.commit()

    return repeat_until_locked(connection, drop)


def restore_permissions(connection: Connection, table: LiveTable) -> None:
    """Give the partitions the permissions of the table, which can have changed."""
    copy_permissions(connection, table.sql, table.sql)
    connection.commit()


def count_partitions(connection: Connection, table: LiveTable) -> int:
    count = text("SELECT count(*) FROM pg_inherits WHERE inhparent = to_regclass(:name)")
    found: int = connection.execute(count, {"name": table.sql}).scalar_one()
    connection.commit()
    return found


def _vacuum(connection: Connection, table: str) -> None:
    """Let the first query have statistics and a visibility map."""
    connection = connection.execution_options(isolation_level="AUTOCOMMIT")
    try:
        execute(connection, f"VACUUM (ANALYZE) {table}")
    finally:
        connection.rollback()
        connection.execution_options(isolation_level="READ COMMITTED")
