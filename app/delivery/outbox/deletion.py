"""Deletes a subject's messages and deliveries, also the unsent ones."""

from sqlalchemy import ColumnElement, ColumnExpressionArgument, delete, select

from ...core.db.pruning import delete_in_batches
from ...core.db.transaction import AnySession, execute_bulk
from ..message import Subject
from .models import PENDING, Delivery, OutgoingMessage, is_about


def delete_messages(session: AnySession, subject: Subject) -> None:
    """Delete a subject's messages in the caller's transaction: both are deleted, or neither."""
    execute_bulk(session, delete(OutgoingMessage).where(is_about(subject)))


def delete_deliveries(session: AnySession, subject: Subject, batch: int) -> int:
    """Delete a subject's deliveries in batches and return how many were deleted."""
    messages = select(OutgoingMessage.id).where(is_about(subject))
    return delete_in_batches(session, Delivery, Delivery.outgoing_id.in_(messages), batch=batch)


def has_pending(kind: str, subject_id: ColumnExpressionArgument[int]) -> ColumnElement[bool]:
    """Return the condition that a delivery about the row of a query is pending."""
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
