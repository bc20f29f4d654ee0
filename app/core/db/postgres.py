"""Connections to PostgreSQL that do not wait for ever.

The driver itself waits without end for a server that has accepted a question and says nothing.
A connection that has waited too long is closed, which the pool takes for what it is: a lost one,
and while the server stays silent nobody else waits for it (circuit_breaker.py).
"""

from __future__ import annotations

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

PATIENCE_SECONDS = 2.0
_SILENT = "the server is silent"


class PatientConnection(psycopg.Connection[Any]):
    patience: float | None = PATIENCE_SECONDS
    breaker: CircuitBreaker | None = None

    def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
        breaker = self.breaker
        if breaker is not None and breaker.refuses:
            gen.close()
            # What was begun on it cannot be ended now.
            self.pgconn.finish()
            raise errors.OperationalError(_SILENT)
        limit = self.patience if timeout is None else timeout
        began = monotonic()
        try:
            return super().wait(gen, interval, limit)
        except errors.OperationalError as error:
            # psycopg has no public name for the error that it raises once the limit has passed.
            if limit is not None and monotonic() - began >= limit:
                self.pgconn.finish()
                self._suspect()
                raise errors.OperationalError("the server did not answer in time") from None
            # What the system says of a line on which nothing was confirmed.
            if "timed out" in str(error):
                self._suspect()
            raise

    def _suspect(self) -> None:
        if self.breaker is not None:
            self.breaker.suspect()


def prepare_postgres(engine: Engine) -> None:
    arguments, found = engine.dialect.create_connect_args(engine.url)
    # Under two seconds the driver does not go.
    quick: JsonObject = {**found, "connect_timeout": 2}

    def reach() -> None:
        psycopg.connect(*arguments, **quick).close()

    breaker = CircuitBreaker("database", reach)

    @event.listens_for(engine, "do_connect")
    def connect(_dialect: Any, _record: Any, args: Any, options: Any) -> PatientConnection:
        if breaker.refuses:
            raise errors.OperationalError(_SILENT)
        try:
            connection = PatientConnection.connect(*args, **options)
        except errors.ConnectionTimeout:
            breaker.suspect()
            raise
        connection.breaker = breaker
        begin_session(connection)
        return connection

    @event.listens_for(engine, "handle_error")
    def leave_standby(context: ExceptionContext) -> None:
        """After a failover the pool's connections may lead to a server that is a standby now."""
        if isinstance(context.original_exception, errors.ReadOnlySqlTransaction):
            context.is_disconnect = True


def begin_session(connection: PatientConnection) -> None:
    """Moments are read and compared in UTC. By a statement, because PgBouncer refuses a connection
    that asks for it with the start-up parameter `options`, and keeps what SET says of time zones.

    Behind a pooler no statement is prepared: under its name another client's statement could run.
    """
    connection.autocommit = True
    found = connection.execute("SELECT pg_backend_pid(), set_config('TimeZone', 'UTC', false)")
    [backend, _] = found.fetchone() or (0, "")
    connection.autocommit = False
    if backend != connection.info.backend_pid:
        connection.prepare_threshold = None


@contextmanager
def patience(connection: Connection, seconds: float | None) -> Iterator[None]:
    """Let the statements inside take longer, such as one that writes a million rows."""
    driver = connection.connection.driver_connection
    if not isinstance(driver, PatientConnection):
        yield
        return
    driver.patience = seconds
    try:
        yield
    finally:
        driver.patience = PATIENCE_SECONDS
