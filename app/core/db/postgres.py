"""Connections to PostgreSQL with a timeout for each statement.

The driver waits without a limit for a server that accepts a statement and does not respond. After
the timeout the connection is closed, so that the pool replaces it, and while the server does not
respond, other statements fail at once (circuit_breaker.py).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

import psycopg
from psycopg import errors
from sqlalchemy import Connection, Engine, event
from sqlalchemy.engine import ExceptionContext

from ..process.circuit_breaker import CircuitBreaker
from ..types import JsonObject

TIMEOUT_SECONDS = 2.0
_NO_RESPONSE = "the server does not respond"


class TimeoutConnection(psycopg.Connection[Any]):
    timeout_seconds: float | None = TIMEOUT_SECONDS
    breaker: CircuitBreaker | None = None

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
                raise errors.OperationalError("the server did not answer in time") from None
            # The operating system's error after TCP packets were not acknowledged.
            if "timed out" in str(error):
                self._report_timeout()
            raise

    def _report_timeout(self) -> None:
        if self.breaker is not None:
            self.breaker.report_timeout()


def prepare_postgres(engine: Engine) -> None:
    arguments, found = engine.dialect.create_connect_args(engine.url)
    # The driver's minimum.
    quick: JsonObject = {**found, "connect_timeout": 2}

    def reach() -> None:
        psycopg.connect(*arguments, **quick).close()

    breaker = CircuitBreaker("database", reach)

    @event.listens_for(engine, "do_connect")
    def connect(_dialect: Any, _record: Any, args: Any, options: Any) -> TimeoutConnection:
        if breaker.is_rejecting:
            raise errors.OperationalError(_NO_RESPONSE)
        try:
            connection = TimeoutConnection.connect(*args, **options)
        except errors.ConnectionTimeout:
            breaker.report_timeout()
            raise
        connection.breaker = breaker
        begin_session(connection)
        return connection

    @event.listens_for(engine, "handle_error")
    def leave_standby(context: ExceptionContext) -> None:
        """After a failover, drop the pool's connections to a server that is now a standby."""
        if isinstance(context.original_exception, errors.ReadOnlySqlTransaction):
            context.is_disconnect = True


def begin_session(connection: TimeoutConnection) -> None:
    """Set the time zone to UTC, and disable prepared statements behind a pooler.

    A statement sets the time zone, because PgBouncer rejects the startup parameter `options` and
    keeps the result of SET. Behind a pooler, a statement of another client could be prepared under
    the same name.
    """
    connection.autocommit = True
    found = connection.execute("SELECT pg_backend_pid(), set_config('TimeZone', 'UTC', false)")
    [backend, _] = found.fetchone() or (0, "")
    connection.autocommit = False
    if backend != connection.info.backend_pid:
        connection.prepare_threshold = None


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
