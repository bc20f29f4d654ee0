"""What must hold when requests come at once, in a way both databases understand."""

from __future__ import annotations

from typing import Any, TypeVar

from sqlalchemy import ColumnElement, false, func, inspect, select, update

from .base import insert_of
from .transaction import AnySession, locked_rows, session_itself

Row = TypeVar("Row")


def insert_new(session: AnySession, model: type[Row], **values: Any) -> Row | None:
    """Insert a row, or nothing where one with its unique values is already there.

    Unlike a failed INSERT this leaves the transaction whole, so the caller may try another value.
    """
    insert = insert_of(session.get_bind().dialect)
    statement = insert(model).values(**values).on_conflict_do_nothing().returning(model)
    inserted: Row | None = session.scalar(statement)
    return inserted


def lock_row(session: AnySession, model: Any, which: ColumnElement[bool]) -> bool:
    """Hold one row until the end of the transaction, and tell whether it is there.

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
    current = session_itself(session)
    current.flush()
    found: Row | None
    if current.get_bind().dialect.name == "sqlite":
        found = current.scalar(_locking_update(model, row_id))
    else:
        # Other rows may go on referring to it, and what is loaded with it is not locked.
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
    """The same for an object that stays as it is, unless its row is locked already."""
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
