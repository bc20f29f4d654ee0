"""Checks of a connection pooler between the application and PostgreSQL.

A pooler such as PgBouncer invents the backend's process id that it reports when a client connects.
In transaction mode, statements of one client run on backends that other clients use too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager

import psycopg
from sqlalchemy import URL, Engine

from .postgres import TimeoutConnection, begin_session
from .sqlstates import is_foreign_statement

TRANSACTION_MODE = (
    "The database is reached through a connection pooler in transaction mode (PgBouncer:"
    " pool_mode = transaction). Migrations hold a lock that belongs to a session: set"
    " CORE__DATABASE_DIRECT_URL to the URL of PostgreSQL itself"
)
_LOST_STATEMENTS = (
    "Statements are prepared, and the connection pooler loses them or gives them to other clients:"
    " set CORE__DATABASE_PREPARED=off (in an application, prepare_threshold=None in connect_args),"
    " or use PgBouncer 1.22 or newer with max_prepared_statements"
)
# An idle pooler lends both connections the same backend at once.
ROUNDS = 10


def shares_sessions(engine: Engine, url: URL | None = None) -> bool:
    """Return whether two connections share a session of the server, as in transaction mode.

    False if the server is unreachable or the application uses another driver.
    """
    backends: list[set[int]] = [set(), set()]
    try:
        with _connect_twice(engine, url or engine.url) as pair:
            for _ in range(ROUNDS):
                for connection, seen in zip(pair, backends, strict=False):
                    seen.add(_backend(connection))
    except psycopg.Error:
        return False
    return bool(backends[0] & backends[1])


def unreachable_hosts(engine: Engine, url: URL) -> str | None:
    """Return the hosts of the URL if none accepts a connection with its user and database."""
    if engine.dialect.driver != "psycopg":
        return None
    arguments, options = engine.dialect.create_connect_args(url)
    try:
        psycopg.connect(*arguments, **{"connect_timeout": 5, **options}).close()
    except psycopg.Error:
        return str(options.get("host", "the local socket"))
    return None


def prepared_problem(engine: Engine) -> str | None:
    """Return what to do about a pooler that loses the statements which the engine prepares, without
    a final period."""
    try:
        with _connect_twice(engine, engine.url) as pair:
            if pair and _prepares(engine):
                _prepare_on_two_backends(*pair)
    except psycopg.Error as error:
        return _LOST_STATEMENTS if is_foreign_statement(error) else None
    return None


def _prepares(engine: Engine) -> bool:
    with closing(engine.raw_connection()) as connection:
        threshold = getattr(connection.driver_connection, "prepare_threshold", None)
        # Closed and not kept in the pool, because the process can still be forked.
        connection.invalidate()
    return threshold is not None


def _prepare_on_two_backends(first: TimeoutConnection, second: TimeoutConnection) -> None:
    """Raise the driver's error if a prepared statement is missing on another backend."""
    backend = _backend(first, prepare=True)
    second.autocommit = False
    for _ in range(ROUNDS):
        # An open transaction keeps the backend from the first connection.
        if _backend(second) == backend:
            break
        second.rollback()
    _backend(first, prepare=True)


@contextmanager
def _connect_twice(engine: Engine, url: URL) -> Iterator[Sequence[TimeoutConnection]]:
    """Yield two connections through a pooler, and none if there is no pooler."""
    pair: list[TimeoutConnection] = []
    with ExitStack() as stack:
        while engine.dialect.driver == "psycopg" and len(pair) < 2:
            arguments, options = engine.dialect.create_connect_args(url)
            options = {**options, "connect_timeout": 2}
            connection = TimeoutConnection.connect(*arguments, **options)
            stack.enter_context(closing(connection))
            if not begin_session(connection):
                break
            connection.autocommit = True
            pair.append(connection)
        yield pair if len(pair) == 2 else ()


def _backend(connection: TimeoutConnection, *, prepare: bool = False) -> int:
    [pid] = connection.execute("SELECT pg_backend_pid()", prepare=prepare).fetchone() or (0,)
    return int(str(pid))
