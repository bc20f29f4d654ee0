"""Deletes old notifications with their inbox rows and deliveries, in batches.

A statement that deletes a million rows holds their locks until its end, so each batch is a separate
transaction.
"""

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import ColumnElement, ColumnExpressionArgument, delete, select

from ..core.clock import Clock
from ..core.db.pruning import delete_in_batches
from ..core.db.transaction import AnySession, execute_bulk, transaction
from ..delivery.message import Subject
from ..delivery.outbox.models import PENDING, Delivery, OutgoingMessage, is_about
from .models import ACCOUNT_SCOPE, EXPANDING, SUBJECT, Expansion, InboxItem, Notification

BATCH_ROWS = 5_000
BATCH_NOTIFICATIONS = 100


@dataclass(eq=False)
class NotificationRetention:
    session: AnySession
    clock: Clock
    keep_days: int | None

    def prune(self, days: int | None = None, batch: int = BATCH_ROWS) -> int:
        """Delete notifications older than this or the configured number of days, except those
        still to be sent, and return how many.

        Notifications with another scope belong to other packages and are not deleted.
        """
        days = days or self.keep_days
        if days is None:
            return 0
        before = self.clock.now() - timedelta(days=days)
        expanding = select(Expansion.id).where(
            Expansion.notification_id == Notification.id, Expansion.state == EXPANDING
        )
        old = (
            select(Notification.id)
            .where(
                Notification.scope == ACCOUNT_SCOPE,
                Notification.created_at < before,
                ~has_pending(SUBJECT, Notification.id),
                ~expanding.exists(),
            )
            .order_by(Notification.id)
            .limit(BATCH_NOTIFICATIONS)
        )
        deleted = 0
        while found := self.session.scalars(old).all():
            for notification_id in found:
                self._delete(notification_id, batch)
            deleted += len(found)
        return deleted

    def _delete(self, notification_id: int, batch: int) -> None:
        subject = Subject(SUBJECT, notification_id)
        is_copy = InboxItem.notification_id == notification_id
        delete_in_batches(self.session, InboxItem, is_copy, batch=batch)
        delete_deliveries(self.session, subject, batch)
        with transaction(self.session) as session:
            execute_bulk(session, delete(Notification).where(Notification.id == notification_id))
            delete_messages(session, subject)


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
