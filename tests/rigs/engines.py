"""Shares compiled statements and open connections between the applications of a test run.

SQLAlchemy caches compiled statements per engine, and each application has a new engine.
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

_MAX_IDLE_CONNECTIONS = 4
# The driver's default.
PREPARE_THRESHOLD = 5

# By the dialect's name. A dialect queries its server's properties at the first connection, which
# these engines have already opened.
_ENGINES: dict[str, Engine] = {}


def cache_statements(engine: Engine) -> None:
    _ENGINES[engine.dialect.name] = engine


def share_statements(engine: Engine) -> None:
    """Use the dialect and the statement cache of a stored engine with the same dialect."""
    stored = _ENGINES.get(engine.dialect.name)
    if stored is not None:
        engine.dialect = stored.dialect
        engine.pool._dialect = stored.dialect
        engine._compiled_cache = stored._compiled_cache


@contextmanager
def reuse_connections(database: str) -> Iterator[None]:
    """Give the connections that one application closes to the next application."""
    make, end = TimeoutConnection.connect, TimeoutConnection.close
    made: WeakKeyDictionary[TimeoutConnection, str] = WeakKeyDictionary()
    idle: defaultdict[str, deque[TimeoutConnection]] = defaultdict(deque)

    def connect(*args: Any, **options: Any) -> TimeoutConnection:
        # Each dialect has a separate context object; equal dialects produce equal contexts.
        key = repr((args, options | {"context": None}))
        with suppress(IndexError):
            return idle[key].pop()
        connection = make(*args, **options)
        if options.get("dbname") == database:
            made[connection] = key
        return connection

    def close(connection: TimeoutConnection) -> None:
        key = made.get(connection)
        if key is None or not _reset(connection) or len(idle[key]) >= _MAX_IDLE_CONNECTIONS:
            end(connection)
        else:
            idle[key].append(connection)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TimeoutConnection, "connect", connect)
        patch.setattr(TimeoutConnection, "close", close)
        yield
    for connections in idle.values():
        for connection in connections:
            connection.close()


def _reset(connection: TimeoutConnection) -> bool:
    if connection.info.transaction_status != TransactionStatus.IDLE:
        return False
    connection.autocommit = False
    connection.timeout_seconds = TimeoutConnection.timeout_seconds
    connection.prepare_threshold = PREPARE_THRESHOLD
    return True
