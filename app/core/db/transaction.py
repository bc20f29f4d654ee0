"""One transaction for one request, committed here and nowhere else; and the rows that it locks.

A service's public method opens `transaction(session)`; a method called inside another's joins it.
What must leave the process (mail, jobs, files) is handed to `after_commit` and runs only when the
data it speaks of is stored; `after_rollback` takes back what was put outside beforehand.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, false, func, inspect, select, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session, scoped_session

from .base import AUTOCOMMIT, dialect_insert

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
def transaction(session: AnySession, *, may_fail: bool = False) -> Iterator[Session]:
    """Open a transaction, or join the open one, and commit it at the end. Yield the plain session.

    `may_fail`: within an open transaction, a failure rolls back only this part (a savepoint), so
    that the caller can catch the error and continue.
    """
    if _OPEN in session.info:
        with _savepoint(session) if may_fail else nullcontext():
            yield unwrap_session(session)
        return
    current = session.info[_OPEN] = _Open()
    try:
        _leave_autocommit(session)
        yield unwrap_session(session)
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


def unwrap_session(session: AnySession) -> Session:
    """Return the session behind SQLAlchemy's proxy, which looks it up at each attribute."""
    found: Session = session() if isinstance(session, scoped_session) else session
    return found


def has_begun(session: AnySession) -> bool:
    """Whether the session has asked its database something, ours or a host's transaction."""
    return unwrap_session(session).in_transaction()


def is_in_use(session: AnySession) -> bool:
    """Whether the session has written, read or loaded something that `release` would discard."""
    return has_begun(session) or bool(session.identity_map)


def release(session: AnySession) -> None:
    """Give the database connection back while something slow is done, between transactions."""
    if _OPEN in session.info:
        raise RuntimeError("A transaction is open: its connection cannot be given back.")
    session.close()


def is_open(session: AnySession) -> bool:
    return _OPEN in session.info


def write_last(session: AnySession, write: WriteRows, row: object) -> None:
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
def extended_timeout(session: AnySession) -> Iterator[None]:
    """Our connections to PostgreSQL give a server up that says nothing for a while (postgres.py);
    a statement that writes a million rows says nothing for longer."""
    if session.get_bind().dialect.name != "postgresql":
        yield
        return
    from .postgres import patience

    with patience(session.connection(), LONG_SECONDS):
        yield


Row = TypeVar("Row")


def insert_new(session: AnySession, model: type[Row], **values: object) -> Row | None:
    """Insert a row, or nothing where one with its unique values is already there.

    Unlike a failed INSERT this leaves the transaction whole, so the caller may try another value.
    """
    insert = dialect_insert(session.get_bind().dialect)
    statement = insert(model).values(**values).on_conflict_do_nothing().returning(model)
    inserted: Row | None = session.scalar(statement)
    return inserted


def lock_row(session: AnySession, model: Any, which: ColumnElement[bool]) -> bool:
    """Lock one row until the end of the transaction; return whether it exists.

    SQLite has no SELECT ... FOR UPDATE; an UPDATE that changes nothing locks on both.
    """
    statement = (
        update(model)
        .where(which)
        .values(id=model.id)
        .returning(model.id)
        .execution_options(synchronize_session=False)
    )
    return session.scalar(statement) is not None


def load_locked(session: AnySession, model: type[Row], row_id: object) -> Row | None:
    """One row as it is stored now, locked until the end of the transaction; None where there is
    none. What was loaded of it before is read again.
    """
    current = unwrap_session(session)
    current.flush()
    found: Row | None
    if current.get_bind().dialect.name == "sqlite":
        found = current.scalar(_locking_update(model, row_id))
    else:
        # Other rows may still refer to it, and joined rows are not locked.
        lock: Any = {"key_share": True, "of": model}
        found = current.get(model, row_id, populate_existing=True, with_for_update=lock)
    if found is not None:
        note_locked(current, found)
    return found


def _locking_update(model: Any, row_id: object) -> Any:
    """SQLite has no SELECT ... FOR UPDATE."""
    return (
        update(model)
        .where(model.id == row_id)
        .values(id=model.id)
        .returning(model)
        .execution_options(populate_existing=True, synchronize_session=False)
    )


def lock_loaded(session: AnySession, row: Any) -> None:
    """Lock the row of a loaded object without reading it again, unless it is locked already."""
    if not is_locked(session, row):
        model = type(row)
        lock_row(session, model, model.id == row.id)
        note_locked(session, row)


def is_locked(session: AnySession, row: object) -> bool:
    """Whether the open transaction has locked this row, or has inserted it."""
    key = inspect(row, raiseerr=True).identity_key
    return key is not None and key in locked_rows(session)


def note_locked(session: AnySession, row: object) -> None:
    locked_rows(session).add(inspect(row, raiseerr=True).identity_key)


def lock_name(session: AnySession, model: Any, name: str) -> None:
    """Hold, until the end of the transaction, what a name stands for in a table: all the rows of
    one owner, those that are not there yet among them.

    SQLite has one writer; whoever writes, be it nothing, holds everything.
    """
    if session.get_bind().dialect.name == "sqlite":
        lock_row(session, model, false())
        return
    key = func.hashtextextended(f"{model.__tablename__}:{name}", 0)
    session.execute(select(func.pg_advisory_xact_lock(key)))


def lock_or_raise(
    session: AnySession, model: Any, which: ColumnElement[bool], missing: type[Exception]
) -> None:
    """Lock one row until the end of the transaction. Raise `missing` if it does not exist."""
    if not lock_row(session, model, which):
        raise missing


def execute_bulk(session: AnySession, statement: Any) -> Any:
    """Execute an UPDATE or DELETE whose rows the session has not loaded, and return the result."""
    return session.execute(statement, execution_options={"synchronize_session": False})
