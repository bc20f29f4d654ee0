"""Locks on tables that requests use, on PostgreSQL."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from flask import current_app
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import OperationalError

from .base import engine_options
from .sqlstates import sqlstate

log = logging.getLogger(__name__)

# Shorter than PostgreSQL's deadlock_timeout, so that the change gives up before a request does.
_LOCK_WAIT = "500ms"
_RETRY_SECONDS = 0.5
# lock_not_available, deadlock_detected
_NOT_LOCKED = ("55P03", "40P01")


def repeat_until_locked(connection: Connection, change: Callable[[], object]) -> None:
    """Call `change`, and again after a rollback while it does not get its locks in time.

    While a statement waits for a lock on a table, all later requests for the table wait too, so
    each attempt is short. Statements in autocommit, such as CREATE INDEX CONCURRENTLY, have no
    limit: they block no requests.
    """
    event.listen(connection, "begin", _limit_lock_wait)
    try:
        while not _is_done(connection, change):
            log.warning("A table is in use; trying again to lock it.")
            time.sleep(_RETRY_SECONDS)
    finally:
        event.remove(connection, "begin", _limit_lock_wait)


def _is_done(connection: Connection, change: Callable[[], object]) -> bool:
    try:
        change()
    except OperationalError as error:
        connection.rollback()
        if sqlstate(error) not in _NOT_LOCKED:
            raise
        return False
    return True


def _limit_lock_wait(connection: Connection) -> None:
    driver: Any = connection.connection.driver_connection
    if not driver.autocommit:
        driver.execute(f"SET LOCAL lock_timeout = '{_LOCK_WAIT}'")


@contextmanager
def connect_directly(engine: Engine) -> Iterator[Connection]:
    """Yield a connection to PostgreSQL without a pooler, if the settings have a URL for that."""
    url = current_app.extensions["frontdesk"].settings.core.DATABASE_DIRECT_URL
    if url is None or engine.dialect.name != "postgresql":
        with engine.connect() as connection:
            yield connection
        return
    from .postgres import prepare_postgres  # imports the driver

    direct = create_engine(url.get_secret_value(), **engine_options(url.get_secret_value(), 1))
    prepare_postgres(direct)
    try:
        with direct.connect() as connection:
            yield connection
    finally:
        direct.dispose()
