"""What must hold when requests come at once, in a way both databases understand."""

from __future__ import annotations

from typing import Any, TypeVar

from sqlalchemy import ColumnElement, false, func, select, update

from .base import insert_of
from .transaction import AnySession

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
