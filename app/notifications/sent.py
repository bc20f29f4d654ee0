"""What an admin has sent, and how it stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Select, delete, func, select

from ..core.patience import unhurried
from ..core.transaction import AnySession, transaction
from .deliveries import CountsByChannel, standing
from .errors import NotificationNotFound
from .models import ACCOUNT_SCOPE, ADMIN, InboxItem, Notification

Item = dict[str, Any]

_COLUMNS = (
    "id",
    "title",
    "message",
    "channels",
    "sender_id",
    "notification_type",
    "scope",
    "created_at",
    "receivers",
)


class SentNotifications:
    def __init__(self, session: AnySession) -> None:
        self.session = session

    def page(self, sender_id: int, *, offset: int, limit: int) -> list[Item]:
        newest_first = _of(sender_id).order_by(Notification.id.desc())
        return self._items(self.session.scalars(newest_first.offset(offset).limit(limit)).all())

    def get(self, sender_id: int, notification_id: int) -> Item:
        return self._items([self._find(sender_id, notification_id)])[0]

    def delete(self, sender_id: int, notification_id: int) -> Item:
        """With its inbox rows, and with what of it was still to be sent."""
        with transaction(self.session), unhurried(self.session):
            notification = self._find(sender_id, notification_id)
            item = self._items([notification])[0]
            gone: Any = self.session.execute(
                delete(Notification).where(Notification.id == notification_id),
                execution_options={"synchronize_session": False},
            )
            if not gone.rowcount:
                raise NotificationNotFound  # somebody else was first
            return item

    def _find(self, sender_id: int, notification_id: int) -> Notification:
        notification = self.session.scalar(_of(sender_id).where(Notification.id == notification_id))
        if notification is None:
            raise NotificationNotFound
        return notification

    def _items(self, notifications: Sequence[Notification]) -> list[Item]:
        """Three queries, however many there are."""
        ids = [notification.id for notification in notifications]
        if not ids:
            return []
        read = select(InboxItem.notification_id, func.count()).where(
            InboxItem.notification_id.in_(ids), InboxItem.is_read
        )
        found = self.session.execute(read.group_by(InboxItem.notification_id))
        reads = {notification_id: int(count) for notification_id, count in found}
        deliveries = standing(self.session, ids)
        return [
            sent_item(each, reads.get(each.id, 0), deliveries.get(each.id, {}))
            for each in notifications
        ]


def sent_item(notification: Notification, read: int, deliveries: CountsByChannel) -> Item:
    fields = {name: getattr(notification, name) for name in _COLUMNS}
    return {**fields, "read": read, "deliveries": deliveries}


def _of(sender_id: int) -> Select[Notification]:
    return select(Notification).where(
        Notification.sender_id == sender_id,
        Notification.notification_type == ADMIN,
        Notification.scope == ACCOUNT_SCOPE,
    )
