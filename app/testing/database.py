"""The database in tests: record statements, and roll back what a test writes."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import current_thread
from typing import Any
from unittest import mock

from flask import Flask
from sqlalchemy import Connection, Engine, event

from ..core.clock import Clock
from ..core.context import EXTENSION, Context
from ..core.db import rows
from ..core.db.base import AUTOCOMMIT
from ..core.db.session import follow_session, is_lite
from ..core.keystore import DatabaseKeystore, Keystore, MemoryKeystore
from ..core.types import JsonObject


@contextmanager
def noted_queries(app: Flask) -> Iterator[list[str]]:
    """Collect the SQL statements that an application sends to its database, without those of the
    threads that deliver its messages.

    Args:
        app: The application.

    Returns:
        A context manager that yields a list of the statements.

    Example::

        with noted_queries(app) as statements:
            ada.api().get("/hello")
        assert len(statements) == 1
    """
    statements: list[str] = []
    with app.app_context():
        engine = app.extensions["sqlalchemy"].engine
    ask = rows.ask

    def note(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        if not current_thread().name.startswith("frontdesk-"):
            statements.append(statement)

    def note_plain(engine: Any, sql: str, values: Any) -> Any:
        statements.append(sql)
        return ask(engine, sql, values)

    event.listen(engine, "before_cursor_execute", note)
    try:
        with mock.patch.object(rows, "ask", note_plain):
            yield statements
    finally:
        event.remove(engine, "before_cursor_execute", note)


_METHODS = ("get", "get_many", "put", "drop", "take", "add", "count", "remaining")


@contextmanager
def rolled_back(app: Flask) -> Iterator[None]:
    """Roll back everything that is written to the databases in the block, committed or not.

    The state store (rate-limit counters, one-time codes) is an empty one in memory in the block,
    whatever store the settings name. Deliveries are not rolled back, because they use separate
    connections: use a separate database for tests that deliver.

    Args:
        app: The application, with its tables created.

    Returns:
        A context manager.

    Example::

        @pytest.fixture
        def app(application):
            with rolled_back(application):
                yield application
    """
    db: Any = app.extensions["sqlalchemy"]
    with app.app_context():
        engines = db.engines
        factory = follow_session(db).session_factory
    context: Context = app.extensions[EXTENSION]
    with ExitStack() as stack:
        stack.enter_context(_fresh_state(context.keystore, context.clock))
        for key, engine in list(engines.items()):
            stack.callback(engines.__setitem__, key, engine)
            engines[key] = stack.enter_context(_outer_transaction(engine))
        # A commit ends a savepoint, and never the transaction around it.
        options = {**factory.kw, "join_transaction_mode": "create_savepoint"}
        if is_lite(db):
            # Its sessions get their engine when the application is created.
            options["bind"] = engines["default"]
        stack.enter_context(mock.patch.object(factory, "kw", options))
        yield


@contextmanager
def _fresh_state(keystore: Keystore, clock: Clock) -> Iterator[None]:
    """Replace the methods of the store, because every service has a reference to the object.

    A store in the database would begin a separate transaction on the connection of the test.
    """
    fresh: Any = MemoryKeystore(clock)
    with ExitStack() as stack:
        for name in _METHODS:
            stack.enter_context(mock.patch.object(keystore, name, getattr(fresh, name)))
        if isinstance(keystore, DatabaseKeystore):
            stack.enter_context(mock.patch.object(keystore, "prune", return_value=0))
        yield


@contextmanager
def _outer_transaction(engine: Engine) -> Iterator[Connection]:
    with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            with _explicit_transaction(connection):
                yield connection
            return
        # The transaction leaves autocommit here, because sessions cannot within it.
        options: JsonObject = {"isolation_level": "READ COMMITTED", AUTOCOMMIT: False}
        outer = connection.execution_options(**options).begin()
        try:
            yield connection
        finally:
            outer.rollback()


@contextmanager
def _explicit_transaction(connection: Connection) -> Iterator[None]:
    """Begin explicitly: SQLite's driver begins only at the first write, not for a savepoint."""
    driver: Any = connection.connection.dbapi_connection
    isolation_level, driver.isolation_level = driver.isolation_level, None
    outer = connection.begin()
    connection.exec_driver_sql("BEGIN")
    try:
        yield
    finally:
        outer.rollback()
        driver.isolation_level = isolation_level
