"""Deletes old notifications with their inbox rows and deliveries, in batches.

A statement that deletes a million rows holds their locks until its end, so each batch is a separate
transaction.
"""

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import delete, select

from ..core.clock import Clock
from ..core.db.pruning import delete_in_batches
from ..core.db.transaction import AnySession, execute_bulk, transaction
from ..delivery.message import Subject
from ..delivery.outbox.deletion import delete_deliveries, delete_messages, has_pending
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
