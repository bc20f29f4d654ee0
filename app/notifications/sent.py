"""What an admin has sent, and what became of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, Select, delete, select

from ..core.actions import Target
from ..core.context import report_action
from ..core.db.transaction import AnySession, extended_timeout, transaction
from ..core.errors import Invalid
from ..core.types import AccountKey, Values
from ..core.web.responses import field_names
from ..delivery.message import Subject
from ..delivery.outbox.forget import forget
from .actions import NOTIFICATION_DELETED
from .counts import LastCounted, NotificationCounter, NotificationCounts
from .draft import Draft
from .errors import NotificationNotFound
from .models import ACCOUNT_SCOPE, ADMIN, SUBJECT, Notification
from .schemas import INAPP, NotificationRead
from .service import Notifications

# Ready to be answered as JSON.
SentItem = dict[str, Any]

# The columns of the notification's row; the other fields are counted.
_STORED = [name for name in field_names(NotificationRead) if hasattr(Notification, name)]


@dataclass(eq=False)
class SentNotifications:
    session: AnySession
    notifications: Notifications
    counter: NotificationCounter

    def send(
        self, sender_id: AccountKey, data: Values, receiver_ids: Iterable[Any] | None
    ) -> SentItem:
        """Send an admin's notification; its channels must exist and include the inbox."""
        channels = data["channels"]
        if unknown := self.notifications.unknown(channels):
            raise Invalid.about("data.channels", f"Not a channel: {', '.join(unknown)}")
        if channels and INAPP not in channels:
            raise Invalid.about("data.channels", f"Must have {INAPP} among them.")
        draft = Draft(**data, notification_type=ADMIN, sender_id=sender_id)
        sent = self.notifications.send(draft, receiver_ids)
        assert sent.notification is not None
        return sent_item(sent.notification, NotificationCounts(0, sent.deliveries))

    def page(self, sender_id: AccountKey, *, offset: int, limit: int) -> list[SentItem]:
        rows = self._page(sender_id, offset, limit)
        counts = self.counter.of([_last_counted(row) for row in rows])
        return [sent_item(row, counts.get(row.id)) for row in rows]

    def page_as_counted(
        self, sender_id: AccountKey, *, limit: int, before: int | None = None
    ) -> list[SentItem]:
        """For who does not wait: of those to many, what they were when they were last counted."""
        rows = self._page(sender_id, 0, limit, before)
        counts = self.counter.last([_last_counted(row) for row in rows])
        return [sent_item(row, counts.get(row.id)) for row in rows]

    def get(self, sender_id: AccountKey, notification_id: int) -> SentItem:
        row = self._find(sender_id, notification_id)
        return sent_item(row, self.counter.now(_last_counted(row)))

    def get_as_counted(self, sender_id: AccountKey, notification_id: int) -> SentItem:
        row = self._find(sender_id, notification_id)
        return sent_item(row, self.counter.last([_last_counted(row)]).get(row.id))

    def get_lately(self, sender_id: AccountKey, notification_id: int) -> SentItem:
        """Return a notification for polling clients: its counts are renewed only after a while."""
        row = self._find(sender_id, notification_id)
        return sent_item(row, self.counter.lately(_last_counted(row)))

    def check(self, sender_id: AccountKey, notification_id: int) -> None:
        """That it is one of this sender's."""
        self._find(sender_id, notification_id)

    def delete(self, sender_id: AccountKey, notification_id: int) -> SentItem:
        """With its inbox rows, and with what of it was still to be sent."""
        with transaction(self.session), extended_timeout(self.session):
            row = self._find(sender_id, notification_id)
            item = sent_item(row, self.counter.count([row.id])[row.id])
            gone: Any = self.session.execute(
                delete(Notification).where(Notification.id == notification_id),
                execution_options={"synchronize_session": False},
            )
            if not gone.rowcount:
                raise NotificationNotFound  # somebody else was first
            forget(self.session, Subject(SUBJECT, notification_id))
            target = Target(SUBJECT, notification_id)
            report_action(self.session, NOTIFICATION_DELETED, target=target)
            return item

    def _page(
        self, sender_id: AccountKey, offset: int, limit: int, before: int | None = None
    ) -> Sequence[Row[Any]]:
        newest_first = _of(sender_id).order_by(Notification.id.desc())
        if before is not None:
            newest_first = newest_first.where(Notification.id < before)
        return self.session.execute(newest_first.offset(offset).limit(limit)).all()

    def _find(self, sender_id: AccountKey, notification_id: int) -> Row[Any]:
        query = _of(sender_id).where(Notification.id == notification_id)
        row = self.session.execute(query).one_or_none()
        if row is None:
            raise NotificationNotFound
        return row


def sent_item(notification: object, counts: NotificationCounts | None) -> SentItem:
    item = {name: getattr(notification, name) for name in _STORED}
    if counts is None:
        return {**item, "read": None, "deliveries": None}
    return {**item, **counts._asdict()}


def _last_counted(row: Row[Any]) -> LastCounted:
    return LastCounted(row.id, row.receivers, row.counts, row.counted_at)


def _of(sender_id: AccountKey) -> Select[Any]:
    """Select rows, not objects, which would be read again after each commit."""
    stored = [getattr(Notification, name) for name in _STORED]
    return select(*stored, Notification.counts, Notification.counted_at).where(
        Notification.sender_id == sender_id,
        Notification.notification_type == ADMIN,
        Notification.scope == ACCOUNT_SCOPE,
    )
