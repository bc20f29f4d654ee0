"""Deletes rows by conditions: at once, or many of them in short transactions."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import ColumnElement, delete, select

from .transaction import AnySession, execute_bulk, transaction


def delete_rows(session: AnySession, model: Any, *conditions: ColumnElement[bool]) -> int:
    """Delete the rows that meet the conditions and return how many were deleted.

    Objects that the session has loaded are not updated.
    """
    return execute_bulk(session, delete(model).where(*conditions)).rowcount


def delete_in_batches(
    session: AnySession,
    model: Any,
    *conditions: ColumnElement[bool],
    batch: int,
    order_by: Any = None,
    after_batch: Callable[[int], object] | None = None,
) -> int:
    """Delete matching rows in short transactions, so that no lock is held for long.

    Return how many were deleted. `after_batch` is called within the transaction of each batch.
    """
    chosen = select(model.id).where(*conditions).limit(batch)
    if order_by is not None:
        chosen = chosen.order_by(order_by)
    total = 0
    while True:
        with transaction(session):
            # The conditions again: a row may have changed since the inner SELECT found it.
            deleted = delete_rows(session, model, model.id.in_(chosen), *conditions)
            if deleted and after_batch is not None:
                after_batch(deleted)
        total += deleted
        if deleted < batch:
            return total
