"""Messages go with what they are about, and so does what of them was still to be sent."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, ColumnExpressionArgument, delete, select

from ...core.db.transaction import AnySession
from ..message import Subject
from .models import PENDING, Delivery, OutgoingMessage, is_about


def forget(session: AnySession, subject: Subject) -> None:
    """Delete a subject's messages in the caller's transaction: both are deleted, or neither."""
    _run(session, delete(OutgoingMessage).where(is_about(subject)))


def forget_some(session: AnySession, subject: Subject, most: int) -> int:
    """So many deliveries at most; says how many. A million in one statement hold their locks until
    the last is gone."""
    messages = select(OutgoingMessage.id).where(is_about(subject))
    some = select(Delivery.id).where(Delivery.outgoing_id.in_(messages)).limit(most)
    return _run(session, delete(Delivery).where(Delivery.id.in_(some)))


def is_waiting(kind: str, subject_id: ColumnExpressionArgument[int]) -> ColumnElement[bool]:
    """Whether something about the row of a query is still to be sent."""
    return (
        select(Delivery.id)
        .join(OutgoingMessage, Delivery.outgoing_id == OutgoingMessage.id)
        .where(
            OutgoingMessage.subject_kind == kind,
            OutgoingMessage.subject_id == subject_id,
            Delivery.state == PENDING,
        )
        .exists()
    )


def _run(session: AnySession, statement: Any) -> int:
    # No object of the session is concerned.
    done: Any = session.execute(statement, execution_options={"synchronize_session": False})
    return int(done.rowcount)
