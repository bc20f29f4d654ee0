"""What an admin has sent, and how it stands."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row, Select, delete, select

from ..core.clock import Clock
from ..core.patience import unhurried
from ..core.transaction import AnySession, transaction
from .errors import NotificationNotFound
from .models import ACCOUNT_SCOPE, ADMIN, Notification
from .standing import Counted, Standing, Standings

Item = dict[str, Any]

_SHOWN = (
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
    def __init__(self, session: AnySession, clock: Clock) -> None:
        self.session = session
        self.standings = Standings(session, clock)

    def page(self, sender_id: int, *, offset: int, limit: int) -> list[Item]:
        newest_first = _of(sender_id).order_by(Notification.id.desc())
        rows = self.session.execute(newest_first.offset(offset).limit(limit)).all()
        standings = self.standings.of([_counted(row) for row in rows])
        return [sent_item(row, standings.get(row.id)) for row in rows]

    def get(self, sender_id: int, notification_id: int) -> Item:
        row = self._find(sender_id, notification_id)
        return sent_item(row, self.standings.now(_counted(row)))

    def delete(self, sender_id: int, notification_id: int) -> Item:
        """With its inbox rows, and with what of it was still to be sent."""
        with transaction(self.session), unhurried(self.session):
            row = self._find(sender_id, notification_id)
            item = sent_item(row, self.standings.count([row.id])[row.id])
            gone: Any = self.session.execute(
                delete(Notification).where(Notification.id == notification_id),
                execution_options={"synchronize_session": False},
            )
            if not gone.rowcount:
                raise NotificationNotFound  # somebody else was first
            return item

    def _find(self, sender_id: int, notification_id: int) -> Row[Any]:
        query = _of(sender_id).where(Notification.id == notification_id)
        row = self.session.execute(query).one_or_none()
        if row is None:
            raise NotificationNotFound
        return row


def sent_item(notification: Any, standing: Standing | None) -> Item:
    fields = {name: getattr(notification, name) for name in _SHOWN}
    if standing is None:
        return {**fields, "read": None, "deliveries": None}
    return {**fields, "read": standing.read, "deliveries": standing.deliveries}


def _counted(row: Row[Any]) -> Counted:
    return Counted(row.id, row.receivers, row.standing, row.counted_at)


def _of(sender_id: int) -> Select[Any]:
    """Rows and not objects: those would be read anew after each commit."""
    shown = [getattr(Notification, name) for name in _SHOWN]
    return select(*shown, Notification.standing, Notification.counted_at).where(
        Notification.sender_id == sender_id,
        Notification.notification_type == ADMIN,
        Notification.scope == ACCOUNT_SCOPE,
    )
