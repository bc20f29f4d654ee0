"""The SQLite file in which `CORE__KEYSTORE=database` stores its entries: beside the database, so
that the store never waits for the write lock that a request holds on the database."""

from __future__ import annotations

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
    """The engine of the store: on SQLite the engine of the state file, or of a database in memory
    beside one in memory; elsewhere the engine of the database itself."""

    def __init__(self, database: Callable[[], Engine], table: Table) -> None:
        self._database = database
        self._table = table
        self._apart: Engine | None = None
        self._lock = Lock()
        after_fork(self._forget_connections)

    def __call__(self) -> Engine:
        if self._apart is not None:
            return self._apart
        database = self._database()
        if database.dialect.name != "sqlite":
            return database
        with self._lock:
            if self._apart is None:
                self._apart = _open(state_path(database.url), self._table)
            return self._apart

    def database(self) -> Engine:
        return self._database()

    def path(self) -> Path | None:
        """Return the file, or None if the entries are in the database itself."""
        name = self().url.database
        return Path(name) if self._apart is not None and name else None

    def _forget_connections(self) -> None:
        """In a forked process: the connections are its parent's."""
        self._lock = Lock()
        if self._apart is not None:
            self._apart.dispose(close=False)


def state_path(url: URL) -> Path | None:
    """None for a database in memory."""
    path = sqlite_path(url)
    return path and path.with_name(path.name + SUFFIX)


def _open(path: Path | None, table: Table) -> Engine:
    url = URL.create("sqlite", database=str(path) if path else None)
    options: JsonObject = engine_options(str(url), 1)
    if path is None:
        # One connection, lent to one thread at a time: each other connection were another database.
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
