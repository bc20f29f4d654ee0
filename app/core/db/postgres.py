"""Connections to PostgreSQL with a timeout for each statement.

The driver waits without a limit for a server that accepts a statement and does not respond. After
the timeout the connection is closed, so that the pool replaces it, and while the server does not
respond, other statements fail at once (circuit_breaker.py).

A connection is also closed, as if it were lost, when its server has become a standby, and when the
server's session is not the one in which the driver has prepared a statement.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

import psycopg
from psycopg import errors
from sqlalchemy import Connection, Engine, event

from ..process.circuit_breaker import CircuitBreaker
from ..types import JsonObject
from .prepared import PreparedMode, PreparedStatements
from .sqlstates import READ_ONLY, is_foreign_statement

TIMEOUT_SECONDS = 2.0
_NO_RESPONSE = "the server does not respond"


class TimeoutConnection(psycopg.Connection[Any]):
    timeout_seconds: float | None = TIMEOUT_SECONDS
    breaker: CircuitBreaker | None = None
    prepared: PreparedStatements | None = None

    def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
        breaker = self.breaker
        if breaker is not None and breaker.is_rejecting:
            gen.close()
            # An open transaction on the connection cannot be ended now.
            self.pgconn.finish()
            raise errors.OperationalError(_NO_RESPONSE)
        limit = self.timeout_seconds if timeout is None else timeout
        began = monotonic()
        try:
            return super().wait(gen, interval, limit)
        except errors.OperationalError as error:
            # psycopg has no public name for the error that it raises once the limit has passed.
            if limit is not None and monotonic() - began >= limit:
                self.pgconn.finish()
                self._report_timeout()
                raise errors.OperationalError("the server did not respond in time") from None
            # The operating system's error after TCP packets were not acknowledged.
            if "timed out" in str(error):
                self._report_timeout()
            self._leave_session(error)
            raise
        except psycopg.Error as error:
            self._leave_session(error)
            raise

    def _leave_session(self, error: psycopg.Error) -> None:
        """Close the connection after an error of the server's session, as if it were lost."""
        if is_foreign_statement(error):
            if self.prepared is not None:
                self.prepared.switch_off("The database's session is another client's")
        elif error.sqlstate != READ_ONLY:
            return
        self.pgconn.finish()

    def _report_timeout(self) -> None:
        if self.breaker is not None:
            self.breaker.report_timeout()


def prepare_postgres(
    engine: Engine, mode: PreparedMode = "auto", *, name: str = "database"
) -> None:
    arguments, found = engine.dialect.create_connect_args(engine.url)
    # The driver's minimum.
    quick: JsonObject = {**found, "connect_timeout": 2}

    def reach() -> None:
        psycopg.connect(*arguments, **quick).close()

    # The driver waits for each host of the URL.
    hosts = str(found.get("host", "")).count(",") + 1
    breaker = CircuitBreaker(name, reach, check_seconds=hosts * TIMEOUT_SECONDS)
    prepared = PreparedStatements(mode)

    @event.listens_for(engine, "do_connect")
    def connect(_dialect: object, _record: object, args: Any, options: Any) -> TimeoutConnection:
        if breaker.is_rejecting:
            raise errors.OperationalError(_NO_RESPONSE)
        try:
            connection = TimeoutConnection.connect(*args, **options)
        except errors.ConnectionTimeout:
            breaker.report_timeout()
            raise
        connection.breaker, connection.prepared = breaker, prepared
        prepared.add(connection, is_pooled=begin_session(connection))
        return connection


def begin_session(connection: TimeoutConnection) -> bool:
    """Set the time zone to UTC, and return whether a pooler is between.

    A statement sets the time zone, because PgBouncer rejects the startup parameter `options` and
    keeps the result of SET. A pooler invents the process id that it reports to a client.
    """
    connection.autocommit = True
    asked = "SELECT pg_backend_pid(), set_config('TimeZone', 'UTC', false)"
    [backend, _] = connection.execute(asked, prepare=False).fetchone() or (0, "")
    connection.autocommit = False
    return bool(backend != connection.info.backend_pid)


@contextmanager
def unprepared(connection: Connection) -> Iterator[None]:
    """Prepare no statements in the block, so that PostgreSQL plans each for its parameters: the
    plan for a frequent word takes seconds for a rare one."""
    driver = connection.connection.driver_connection
    if not isinstance(driver, TimeoutConnection):
        yield
        return
    before, driver.prepare_threshold = driver.prepare_threshold, None
    try:
        yield
    finally:
        if driver.prepared is None:
            driver.prepare_threshold = before
        else:
            driver.prepared.restore(driver, before)


@contextmanager
def statement_timeout(connection: Connection, seconds: float | None) -> Iterator[None]:
    """Change the timeout of statements in the block, such as one that writes a million rows."""
    driver = connection.connection.driver_connection
    if not isinstance(driver, TimeoutConnection):
        yield
        return
    driver.timeout_seconds = seconds
    try:
        yield
    finally:
        driver.timeout_seconds = TIMEOUT_SECONDS
