"""Old notifications go, with their inbox rows and deliveries, a bounded number at a time.

A million rows that go in one statement hold their locks until the last is gone. Here every batch
is a transaction of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import delete, select

from ..core.clock import Clock
from ..core.db.transaction import AnySession, transaction
from ..delivery.message import Subject
from ..delivery.outbox.forget import forget, forget_some, is_waiting
from .models import ACCOUNT_SCOPE, EXPANDING, SUBJECT, Expansion, InboxItem, Notification

ROWS_AT_ONCE = 5_000
NOTIFICATIONS_AT_ONCE = 100


@dataclass(eq=False)
class Retention:
    session: AnySession
    clock: Clock
    keep_days: int | None

    def prune(self, days: int | None = None, batch: int = ROWS_AT_ONCE) -> int:
        """Delete notifications older than this or the configured number of days, except those
        still to be sent, and return how many.

        Notifications of other packages, by their scope, are theirs to keep.
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
                ~is_waiting(SUBJECT, Notification.id),
                ~expanding.exists(),
            )
            .order_by(Notification.id)
            .limit(NOTIFICATIONS_AT_ONCE)
        )
        gone = 0
        while found := self.session.scalars(old).all():
            for notification_id in found:
                self._delete(notification_id, batch)
                gone += 1
        return gone

    def _delete(self, notification_id: int, batch: int) -> None:
        subject = Subject(SUBJECT, notification_id)
        while self._delete_inbox_rows(notification_id, batch) == batch:
            pass
        while self._forget_some(subject, batch) == batch:
            pass
        with transaction(self.session):
            self._run(delete(Notification).where(Notification.id == notification_id))
            forget(self.session, subject)

    def _delete_inbox_rows(self, notification_id: int, most: int) -> int:
        rows = select(InboxItem.id).where(InboxItem.notification_id == notification_id).limit(most)
        with transaction(self.session):
            return self._run(delete(InboxItem).where(InboxItem.id.in_(rows)))

    def _forget_some(self, subject: Subject, most: int) -> int:
        with transaction(self.session):
            return forget_some(self.session, subject, most)

    def _run(self, statement: Any) -> int:
        done: Any = self.session.execute(
            statement, execution_options={"synchronize_session": False}
        )
        return int(done.rowcount)
