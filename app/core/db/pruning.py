"""Deletes many rows in short transactions, so that no lock is held for long."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import ColumnElement, delete, select

from .transaction import AnySession, transaction


def delete_in_batches(
    session: AnySession,
    model: Any,
    *conditions: ColumnElement[bool],
    batch: int,
    order_by: Any = None,
    after_batch: Callable[[int], object] | None = None,
) -> int:
    """Delete the rows that meet the conditions and return how many were deleted.

    Each batch is a separate transaction; `after_batch` is called within it.
    """
    chosen = select(model.id).where(*conditions).limit(batch)
    if order_by is not None:
        chosen = chosen.order_by(order_by)
    # The conditions again: a row may have changed since the inner SELECT found it.
    statement = delete(model).where(model.id.in_(chosen), *conditions)
    total = 0
    while True:
        with transaction(session):
            result: Any = session.execute(
                statement, execution_options={"synchronize_session": False}
            )
            deleted = int(result.rowcount)
            if deleted and after_batch is not None:
                after_batch(deleted)
        total += deleted
        if deleted < batch:
            return total
