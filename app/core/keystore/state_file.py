"""The SQLite file of `CORE__KEYSTORE=database`, next to the application's SQLite database.

In a separate file, the store never waits for a request's write lock on the database.
"""

from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any

from sqlalchemy import URL, Engine, Table, create_engine, event
from sqlalchemy.pool import QueuePool
from sqlalchemy.schema import CreateIndex, CreateTable, DDLElement

from ..db.base import (
    POOL_SECONDS,
    create_private_database,
    engine_options,
    prepare_sqlite,
    sqlite_path,
)
from ..process.servers import after_fork
from ..types import JsonObject

SUFFIX = "-state"


class StateEngine:
    """The engine of the store.

    With SQLite it is a separate file, or a separate database in memory; otherwise the application's
    engine.
    """

    def __init__(self, database: Callable[[], Engine], table: Table) -> None:
        self._database = database
        self._table = table
        self._separate: Engine | None = None
        self._lock = Lock()
        after_fork(self._forget_connections)

    def __call__(self) -> Engine:
        if self._separate is not None:
            return self._separate
        database = self._database()
        if database.dialect.name != "sqlite":
            return database
        with self._lock:
            if self._separate is None:
                self._separate = _open(state_path(database.url), self._table)
            return self._separate

    def database(self) -> Engine:
        return self._database()

    def path(self) -> Path | None:
        """Return the file, or None if the entries are in the database itself."""
        name = self().url.database
        return Path(name) if self._separate is not None and name else None

    def _forget_connections(self) -> None:
        """Forget the parent's connections in a forked process."""
        self._lock = Lock()
        if self._separate is not None:
            self._separate.dispose(close=False)


def state_path(url: URL) -> Path | None:
    """Return the path of the state file, or None for a database in memory."""
    path = sqlite_path(url)
    return path and path.with_name(path.name + SUFFIX)


def _open(path: Path | None, table: Table) -> Engine:
    url = URL.create("sqlite", database=str(path) if path else None)
    options: JsonObject = engine_options(str(url), 1)
    if path is None:
        # One connection for all threads: each connection to memory is a different database.
        options |= {"poolclass": QueuePool, "pool_size": 1, "max_overflow": 0}
        options |= {"pool_timeout": POOL_SECONDS, "connect_args": {"check_same_thread": False}}
    engine = create_engine(url, **options)
    prepare_sqlite(engine)
    create_private_database(engine)

    @event.listens_for(engine, "connect")
    def create_table(connection: Any, _record: object) -> None:
        statements: list[DDLElement] = [CreateTable(table, if_not_exists=True)]
        statements += [CreateIndex(index, if_not_exists=True) for index in table.indexes]
        for statement in statements:
            connection.execute(str(statement.compile(dialect=engine.dialect)))

    return engine
