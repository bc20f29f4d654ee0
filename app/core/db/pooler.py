"""Recognizes a connection pooler between the application and PostgreSQL.

A pooler such as PgBouncer invents the backend's process id that it reports when a client connects.
In transaction mode, statements of one client run on backends that other clients use too: a
statement prepared under a name is missing there, or is the one of another client.
"""

from __future__ import annotations

import psycopg
from sqlalchemy import Engine

from .postgres import TimeoutConnection

_TRANSACTION_MODE = (
    "The database is reached through a connection pooler in transaction mode (PgBouncer:"
    " pool_mode = transaction): set pool_mode = session, or connect to PostgreSQL directly"
)
# An idle pooler lends both connections the same backend at once.
ROUNDS = 10


def pooler_problem(engine: Engine) -> str | None:
    """Return what to do about a pooler in transaction mode, without a final period."""
    return _TRANSACTION_MODE if _share_backends(engine) else None


def _share_backends(engine: Engine) -> bool:
    """Return whether two connections use one backend; False if the server is unreachable or the
    application uses another driver."""
    if engine.dialect.driver != "psycopg":
        return False
    arguments, options = engine.dialect.create_connect_args(engine.url)
    options = {**options, "connect_timeout": 2, "prepare_threshold": None}
    try:
        with TimeoutConnection.connect(*arguments, **options) as first:
            if not _is_pooled(first):
                return False
            with TimeoutConnection.connect(*arguments, **options) as second:
                backends: tuple[set[int], set[int]] = set(), set()
                for _ in range(ROUNDS):
                    backends[0].add(_backend(first))
                    backends[1].add(_backend(second))
                return bool(backends[0] & backends[1])
    except psycopg.Error:
        return False


def _is_pooled(connection: psycopg.Connection[tuple[object, ...]]) -> bool:
    return _backend(connection) != connection.info.backend_pid


def _backend(connection: psycopg.Connection[tuple[object, ...]]) -> int:
    # Within a transaction the connection would keep its backend.
    connection.autocommit = True
    [pid] = connection.execute("SELECT pg_backend_pid()").fetchone() or (0,)
    return int(str(pid))
