"""What makes the second application of a process quicker than the first: SQLAlchemy keeps the text
of each statement for one engine, and every application has an engine of its own, whose connections
to PostgreSQL are new to the server and to each statement.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from weakref import WeakKeyDictionary

import pytest
from psycopg.pq import TransactionStatus
from sqlalchemy import Engine

from app.core.db.postgres import TimeoutConnection

_KEPT_CONNECTIONS = 4

# By the dialect's name. What a dialect knows of its server it asks at its first connection, and so
# these have had one.
_KEPT: dict[str, Engine] = {}


def cache_statements(engine: Engine) -> None:
    _KEPT[engine.dialect.name] = engine


def share_statements(engine: Engine) -> None:
    """With an engine of the same kind and settings: what is kept goes by the dialect too."""
    kept = _KEPT.get(engine.dialect.name)
    if kept is not None:
        engine.dialect = kept.dialect
        engine.pool._dialect = kept.dialect
        engine._compiled_cache = kept._compiled_cache


@contextmanager
def reuse_connections(database: str) -> Iterator[None]:
    """What one application has given up of its connections there, the next one takes for new."""
    make, end = TimeoutConnection.connect, TimeoutConnection.close
    made: WeakKeyDictionary[TimeoutConnection, str] = WeakKeyDictionary()
    idle: defaultdict[str, deque[TimeoutConnection]] = defaultdict(deque)

    def connect(*args: Any, **options: Any) -> TimeoutConnection:
        # Equal dialects adapt equally, each with an object of its own.
        wish = repr((args, options | {"context": None}))
        with suppress(IndexError):
            return idle[wish].pop()
        connection = make(*args, **options)
        if options.get("dbname") == database:
            made[connection] = wish
        return connection

    def close(connection: TimeoutConnection) -> None:
        wish = made.get(connection)
        if wish is None or not _as_new(connection) or len(idle[wish]) >= _KEPT_CONNECTIONS:
            end(connection)
        else:
            idle[wish].append(connection)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TimeoutConnection, "connect", connect)
        patch.setattr(TimeoutConnection, "close", close)
        yield
    for connections in idle.values():
        for connection in connections:
            connection.close()


def _as_new(connection: TimeoutConnection) -> bool:
    if connection.info.transaction_status != TransactionStatus.IDLE:
        return False
    connection.autocommit = False
    connection.timeout_seconds = TimeoutConnection.timeout_seconds
    return True
