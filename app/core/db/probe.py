"""Checks with a write that is rolled back whether a database accepts writes."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex

from sqlalchemy import Connection, Engine, Insert, column, insert, table
from sqlalchemy.exc import OperationalError

from .base import UtcDateTime

# SQLite appends to its log only at a commit, so a rolled-back write does not detect a full disk.
MIN_FREE_BYTES = 64 * 1024

_ENTRIES = table(
    "frontdesk_keystore_entries", column("key"), column("value"), column("expires_at", UtcDateTime)
)


class DiskFull(Exception):
    pass


@contextmanager
def probe_connection(bind: Engine | Connection) -> Iterator[Connection]:
    """Yield a separate connection; within a test's transaction, its connection."""
    if isinstance(bind, Connection):
        yield bind
        return
    with bind.connect() as connection:
        yield connection


def check_write(bind: Engine | Connection) -> None:
    """Raise the driver's error if the database is read-only, and DiskFull."""
    with probe_connection(bind) as connection:
        if isinstance(bind, Engine) and connection.dialect.name == "postgresql":
            # The service's connections are in autocommit, which cannot roll back.
            connection = connection.execution_options(isolation_level="READ COMMITTED")
        if connection.dialect.name == "sqlite":
            _check_sqlite(connection)
        else:
            _write(connection)


def _write(connection: Connection) -> None:
    """Roll back the write alone: a savepoint within the transaction of a test."""
    inside = connection.in_transaction()
    with connection.begin_nested() if inside else connection.begin() as attempt:
        connection.execute(_row())
        attempt.rollback()


def _row() -> Insert:
    key = f"probe:{token_hex(8)}"
    return insert(_ENTRIES).values(key=key, value="", expires_at=datetime.now(UTC))


def _check_sqlite(connection: Connection) -> None:
    """Check without waiting for a lock: a database that another connection is writing to is not
    read-only."""
    timeout = connection.exec_driver_sql("PRAGMA busy_timeout").scalar_one()
    connection.exec_driver_sql("PRAGMA busy_timeout = 0")
    try:
        _write(connection)
    except OperationalError as error:
        if "locked" not in str(error.orig):
            raise
    finally:
        connection.exec_driver_sql(f"PRAGMA busy_timeout = {timeout}")
    path = connection.engine.url.database
    if not path or not Path(path).is_file():
        return  # in memory
    if shutil.disk_usage(Path(path).parent).free < MIN_FREE_BYTES:
        raise DiskFull(f"the disk of {path} is full")
