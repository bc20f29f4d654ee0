"""Old notifications go, with their inbox rows and deliveries, a bounded number at a time.

The database would take a notification's rows along by itself, but a million of them in one
statement hold their locks until the last is gone. Here every batch is a transaction of its own.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sqlalchemy import Select, delete, select

from ..core.clock import Clock
from ..core.transaction import AnySession, transaction
from ..delivery.models import PENDING, Delivery, OutgoingMessage
from .models import ACCOUNT_SCOPE, InboxItem, Notification

BATCH = 5_000
NOTIFICATIONS_AT_ONCE = 100

_HAS_PENDING = (
    select(Delivery.id)
    .join(OutgoingMessage, Delivery.outgoing_id == OutgoingMessage.id)
    .where(OutgoingMessage.notification_id == Notification.id, Delivery.state == PENDING)
    .exists()
)


class Retention:
    def __init__(self, session: AnySession, clock: Clock) -> None:
        self.session = session
        self.clock = clock

    def prune(self, days: int, batch: int = BATCH) -> int:
        """Delete what is older, save what is still to be sent; how many notifications that was.

        Notifications of other packages, by their scope, are theirs to keep.
        """
        before = self.clock.now() - timedelta(days=days)
        old = (
            select(Notification.id)
            .where(
                Notification.scope == ACCOUNT_SCOPE,
                Notification.created_at < before,
                ~_HAS_PENDING,
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
        outgoing = select(OutgoingMessage.id).where(
            OutgoingMessage.notification_id == notification_id
        )
        rows: list[tuple[Any, Select[Any]]] = [
            (InboxItem, select(InboxItem.id).where(InboxItem.notification_id == notification_id)),
            (Delivery, select(Delivery.id).where(Delivery.outgoing_id.in_(outgoing))),
        ]
        for model, belonging in rows:
            while self._run(delete(model).where(model.id.in_(belonging.limit(batch)))) == batch:
                pass
        self._run(delete(Notification).where(Notification.id == notification_id))

    def _run(self, statement: Any) -> int:
        with transaction(self.session):
            done: Any = self.session.execute(
                statement, execution_options={"synchronize_session": False}
            )
            return int(done.rowcount)
