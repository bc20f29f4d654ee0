"""Transactions, the only place that commits, and row locks.

A public method of a service opens `transaction(session)`, or joins the open one. Register emails,
jobs and files with `after_commit`, which runs once the data is stored. `after_rollback` undoes what
was written outside the database before a rollback.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from sqlalchemy import ColumnElement, CursorResult, UpdateBase, false, func, inspect, select, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session, scoped_session

from .base import AUTOCOMMIT, dialect_insert

log = logging.getLogger(__name__)

AnySession = Session | scoped_session[Any]
DeferredCall = Callable[[], object]
# Writes rows with one statement.
WriteRows = Callable[[AnySession, list[Any]], object]

_OPEN = "frontdesk_transaction"
_COMMITTED = "frontdesk_committed"
# In a session that only reads (replica.py), the list of writes that follow on the primary.
DEFERRED = "frontdesk_deferred_writes"


@dataclass
class _Open:
    written_last: dict[WriteRows, list[Any]] = field(default_factory=dict)
    after_commit: list[DeferredCall] = field(default_factory=list)
    after_rollback: list[DeferredCall] = field(default_factory=list)
    # Identity keys of the rows that stay locked until the end.
    locked: set[object] = field(default_factory=set)


@contextmanager
def transaction(session: AnySession, *, may_fail: bool = False) -> Iterator[Session]:
    """Open a transaction, or join the open one, and commit it at the end of the block.

    Args:
        session: The database session. `Frontdesk.transaction` passes the application's session.
        may_fail: Within an open transaction, a failure rolls back only this part (a savepoint), so
            that the caller can catch the error and continue.

    Returns:
        A context manager that yields the plain session, and rolls back after an exception.

    Example::

        with transaction(db.session) as session:
            session.add(Order(account_id=account.id))
    """
    if _OPEN in session.info:
        with _savepoint(session) if may_fail else nullcontext():
            yield unwrap_session(session)
        return
    current = session.info[_OPEN] = _Open()
    try:
        _leave_autocommit(session)
        yield unwrap_session(session)
        while current.written_last:
            # A write can add others, such as audit log entries.
            pending, current.written_last = current.written_last, {}
            for write, rows in pending.items():
                write(session, rows)
        session.commit()
    except BaseException:
        session.rollback()
        del session.info[_OPEN]
        _run(current.after_rollback)
        raise
    del session.info[_OPEN]
    session.info[_COMMITTED] = True
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
    """Begin explicitly: SQLite's driver begins at the first write, and a savepoint before that
    would be the whole transaction, committed at its end."""
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
    """Return whether the session has a transaction, of Frontdesk or of the application."""
    return unwrap_session(session).in_transaction()


def is_in_use(session: AnySession) -> bool:
    """Return whether the session has changes or loaded objects that `release` would discard."""
    return has_begun(session) or bool(session.identity_map)


def release(session: AnySession) -> None:
    """Return the connection to the pool before slow work, between transactions."""
    if _OPEN in session.info:
        raise RuntimeError("A transaction is open: its connection cannot be given back.")
    session.close()


def is_open(session: AnySession) -> bool:
    return _OPEN in session.info


def has_committed(session: AnySession) -> bool:
    """Return whether a `transaction()` of this session was committed."""
    return _COMMITTED in session.info


def write_after_read(session: AnySession, write: DeferredCall) -> None:
    """Run a function that stores what was read: at once, or after the reads of a session that only
    reads."""
    deferred: list[DeferredCall] | None = session.info.get(DEFERRED)
    if deferred is None:
        write()
    else:
        deferred.append(write)


def write_last(session: AnySession, write: WriteRows, row: object) -> None:
    """Write a row just before the commit, together with the others of this kind.

    For rows that the transaction itself does not read.
    """
    _open(session).written_last.setdefault(write, []).append(row)


def locked_rows(session: AnySession) -> set[object]:
    """Return the identity keys of the rows that the open transaction has locked."""
    return _open(session).locked


def after_commit(session: AnySession, action: DeferredCall) -> None:
    """Run an action after the commit of the open transaction; a rollback discards it.

    Args:
        session: The database session.
        action: Function without parameters. Its exceptions are logged.

    Raises:
        RuntimeError: No transaction of Frontdesk is open.

    Example::

        @frontdesk.on("account-registered")
        def welcome(account, options):
            email = account.email
            after_commit(options["session"], lambda: send_welcome(email))
    """
    _open(session).after_commit.append(action)


def after_rollback(session: AnySession, action: DeferredCall) -> None:
    """Run an action after a rollback of the open transaction; a commit discards it.

    Args:
        session: The database session.
        action: Function without parameters. Its exceptions are logged.

    Raises:
        RuntimeError: No transaction of Frontdesk is open.

    Example::

        with frontdesk.transaction() as session:
            path = store_file(upload)
            after_rollback(session, path.unlink)
    """
    _open(session).after_rollback.append(action)


def _open(session: AnySession) -> _Open:
    current = session.info.get(_OPEN)
    if not isinstance(current, _Open):
        raise RuntimeError("This needs an open transaction(session) around it.")
    return current


def _leave_autocommit(session: AnySession) -> None:
    bind = session.get_bind()
    if bind.get_execution_options().get(AUTOCOMMIT):
        # Return the connection of a decorator's read to the pool; loaded objects stay loaded.
        session.commit()
        driver = bind.dialect.loaded_dbapi
        try:
            session.connection(execution_options={"isolation_level": "READ COMMITTED"})
        except driver.Error as error:
            # SQLAlchemy does not convert the driver's error here, and keeps the lost connection.
            bind.engine.dispose()
            raise DBAPIError.instance("BEGIN", None, error, driver.Error) from error


def _run(actions: list[DeferredCall]) -> None:
    """Run the actions. An error is logged, because the data is committed or rolled back already."""
    for action in actions:
        try:
            action()
        except Exception:
            log.exception("An action after the transaction failed")


LONG_SECONDS = 300.0


@contextmanager
def extended_timeout(session: AnySession) -> Iterator[None]:
    """Give statements more time than the timeout of connections to PostgreSQL (postgres.py).

    For a statement that writes a million rows, for example.
    """
    if session.get_bind().dialect.name != "postgresql":
        yield
        return
    from .postgres import statement_timeout

    with statement_timeout(session.connection(), LONG_SECONDS):
        yield


@contextmanager
def unprepared(session: AnySession) -> Iterator[None]:
    """Have PostgreSQL plan each statement for its parameters (postgres.py), such as a search."""
    if session.get_bind().dialect.name != "postgresql":
        yield
        return
    from .postgres import unprepared

    with unprepared(session.connection()):
        yield


Row = TypeVar("Row")


def insert_new(session: AnySession, model: type[Row], **values: object) -> Row | None:
    """Insert a row; return None if a row with the same unique values exists.

    Unlike a failed INSERT, this does not abort the transaction, so the caller can try again.
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
    """Lock a row until the end of the transaction and load its current values; None if missing."""
    current = unwrap_session(session)
    current.flush()
    found: Row | None
    if current.get_bind().dialect.name == "sqlite":
        found = current.scalar(_locking_update(model, row_id))
    else:
        # Other transactions can still insert rows that refer to it; joined rows are not locked.
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
    """Lock a name in a table until the end of the transaction.

    The name stands for all rows of an owner, including rows that do not exist yet. On SQLite, which
    has one writer, an UPDATE of no rows takes the write lock.
    """
    if session.get_bind().dialect.name == "sqlite":
        lock_row(session, model, false())
        return
    key = func.hashtextextended(f"{model.__tablename__}:{name}", 0)
    session.execute(select(func.pg_advisory_xact_lock(key)))


def lock_or_raise(
    session: AnySession, model: object, which: ColumnElement[bool], missing: type[Exception]
) -> None:
    """Lock one row until the end of the transaction. Raise `missing` if it does not exist."""
    if not lock_row(session, model, which):
        raise missing


def execute_bulk(session: AnySession, statement: UpdateBase) -> CursorResult[Any]:
    """Execute an UPDATE or DELETE of rows that the session has not loaded; return the result."""
    result = session.execute(statement, execution_options={"synchronize_session": False})
    return cast(CursorResult[Any], result)
