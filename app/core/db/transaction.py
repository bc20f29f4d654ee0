"""One transaction for one request, committed here and nowhere else.

A service's public method opens `transaction(session)`; a method called inside another's joins it.
What must leave the process (mail, jobs, files) is handed to `after_commit` and runs only when the
data it speaks of is stored; `after_rollback` takes back what was put outside beforehand.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session, scoped_session

from .base import AUTOCOMMIT

log = logging.getLogger(__name__)

AnySession = Session | scoped_session[Any]
Action = Callable[[], object]
# Writes some rows, all at once.
WriteRows = Callable[[AnySession, list[Any]], object]

_OPEN = "frontdesk_transaction"


@dataclass
class _Open:
    written_last: dict[WriteRows, list[Any]] = field(default_factory=dict)
    after_commit: list[Action] = field(default_factory=list)
    after_rollback: list[Action] = field(default_factory=list)
    # Identity keys of the rows that stay locked until the end.
    locked: set[Any] = field(default_factory=set)


@contextmanager
def transaction(session: AnySession, *, may_fail: bool = False) -> Iterator[None]:
    """`may_fail`: within another's, what fails here is taken back alone, so that whoever catches
    the error goes on with the rest."""
    if _OPEN in session.info:
        with _savepoint(session) if may_fail else nullcontext():
            yield
        return
    current = session.info[_OPEN] = _Open()
    try:
        _leave_autocommit(session)
        yield
        for write, rows in current.written_last.items():
            write(session, rows)
        session.commit()
    except BaseException:
        session.rollback()
        del session.info[_OPEN]
        _run(current.after_rollback)
        raise
    del session.info[_OPEN]
    _run(current.after_commit)


@contextmanager
def _savepoint(session: AnySession) -> Iterator[None]:
    outer = _open(session)
    part = session.info[_OPEN] = _Open(locked=set(outer.locked))
    try:
        _begin(session)
        with session.begin_nested():
            yield
    except BaseException:
        session.info[_OPEN] = outer
        _run(part.after_rollback)
        raise
    session.info[_OPEN] = outer
    for write, rows in part.written_last.items():
        outer.written_last.setdefault(write, []).extend(rows)
    outer.after_commit += part.after_commit
    outer.after_rollback += part.after_rollback
    outer.locked = part.locked


def _begin(session: AnySession) -> None:
    """SQLite's driver begins a transaction at the first write. A savepoint before it would be the
    whole transaction, and its end a commit."""
    connection = session.connection()
    if connection.dialect.name == "sqlite":
        driver: Any = connection.connection.driver_connection
        if not driver.in_transaction:
            connection.exec_driver_sql("BEGIN")


def session_itself(session: AnySession) -> Session:
    """Behind SQLAlchemy's proxy, which looks for it anew at each attribute."""
    found: Session = session() if isinstance(session, scoped_session) else session
    return found


def has_begun(session: AnySession) -> bool:
    """Whether the session has asked its database something, ours or a host's transaction."""
    return session_itself(session).in_transaction()


def is_in_use(session: AnySession) -> bool:
    """Whether somebody has written, read or loaded something that a `release` would take away."""
    return has_begun(session) or bool(session.identity_map)


def release(session: AnySession) -> None:
    """Give the database connection back while something slow is done, between transactions."""
    if _OPEN in session.info:
        raise RuntimeError("A transaction is open: its connection cannot be given back.")
    session.close()


def is_open(session: AnySession) -> bool:
    return _OPEN in session.info


def write_last(session: AnySession, write: WriteRows, row: Any) -> None:
    """A row that goes with the transaction, and that nothing in it reads: all of them are written
    together just before the commit."""
    _open(session).written_last.setdefault(write, []).append(row)


def locked_rows(session: AnySession) -> set[Any]:
    """Identity keys of the rows that the open transaction has locked, for `races` to read and to
    add to."""
    return _open(session).locked


def after_commit(session: AnySession, action: Action) -> None:
    _open(session).after_commit.append(action)


def after_rollback(session: AnySession, action: Action) -> None:
    _open(session).after_rollback.append(action)


def _open(session: AnySession) -> _Open:
    current = session.info.get(_OPEN)
    if not isinstance(current, _Open):
        raise RuntimeError("This needs an open transaction(session) around it.")
    return current


def _leave_autocommit(session: AnySession) -> None:
    bind = session.get_bind()
    if bind.get_execution_options().get(AUTOCOMMIT):
        # Gives back the connection that a guard read on; what it loaded stays loaded.
        session.commit()
        driver = bind.dialect.loaded_dbapi
        try:
            session.connection(execution_options={"isolation_level": "READ COMMITTED"})
        except driver.Error as error:
            # Of a connection that breaks at this very moment, SQLAlchemy lets the driver's own
            # error through and keeps the connection.
            bind.engine.dispose()
            raise DBAPIError.instance("BEGIN", None, error, driver.Error) from error


def _run(actions: list[Action]) -> None:
    """The data is decided by now: an action that fails is logged and must not undo the answer."""
    for action in actions:
        try:
            action()
        except Exception:
            log.exception("An action after the transaction failed")


LONG_SECONDS = 300.0


@contextmanager
def unhurried(session: AnySession) -> Iterator[None]:
    """Our connections to PostgreSQL give a server up that says nothing for a while (postgres.py);
    a statement that writes a million rows says nothing for longer."""
    if session.get_bind().dialect.name != "postgresql":
        yield
        return
    from .postgres import patience

    with patience(session.connection(), LONG_SECONDS):
        yield
