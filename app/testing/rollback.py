from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

from flask import Flask
from sqlalchemy import Connection, Engine

from ..core.db.base import AUTOCOMMIT
from ..core.db.session import FollowingSession, is_lite


@contextmanager
def rolled_back(app: Flask) -> Iterator[None]:
    """Whatever happens to the databases meanwhile, committed or not, is taken back at the end.

    Not so what is done with delivery rows, which has connections of its own: give tests that
    deliver a database of their own.
    """
    db: Any = app.extensions["sqlalchemy"]
    with app.app_context():
        engines = db.engines
        factory = FollowingSession(db).session_factory
    with ExitStack() as stack:
        for key, engine in list(engines.items()):
            stack.callback(engines.__setitem__, key, engine)
            engines[key] = stack.enter_context(_outer_transaction(engine))
        # A commit ends a savepoint, and never the transaction around it.
        options = {**factory.kw, "join_transaction_mode": "create_savepoint"}
        if is_lite(db):
            # Its sessions are given their engine when the application is made.
            options["bind"] = engines["default"]
        stack.enter_context(mock.patch.object(factory, "kw", options))
        yield


@contextmanager
def _outer_transaction(engine: Engine) -> Iterator[Connection]:
    with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            with _begun_by_us(connection):
                yield connection
            return
        # Our sessions would leave the driver's autocommit by themselves, and cannot any more.
        options: dict[str, Any] = {"isolation_level": "READ COMMITTED", AUTOCOMMIT: False}
        outer = connection.execution_options(**options).begin()
        try:
            yield connection
        finally:
            outer.rollback()


@contextmanager
def _begun_by_us(connection: Connection) -> Iterator[None]:
    """SQLite's driver begins a transaction with the first write only, and not for a savepoint."""
    driver: Any = connection.connection.dbapi_connection
    usual, driver.isolation_level = driver.isolation_level, None
    outer = connection.begin()
    connection.exec_driver_sql("BEGIN")
    try:
        yield
    finally:
        outer.rollback()
        driver.isolation_level = usual
