"""Sends a notification: stores it, its inbox rows and its deliveries, all in one transaction.

Receivers are never loaded: whether one account or all of them, the inbox rows are one
`INSERT … SELECT`, and what goes out goes to the accounts of those rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..core.clock import Clock
from ..core.db.long_statements import unhurried
from ..core.db.transaction import AnySession, transaction
from ..core.hooks import Hooks
from ..core.records.recorder import Target, record
from ..delivery.message import NewMessage, Subject
from ..delivery.outbox.counts import CountsByChannel
from ..delivery.outbox.enqueue import Outbox
from .counts import NotificationCounts, is_kept
from .draft import Draft
from .errors import NoChannels, SenderRequired
from .models import ADMIN, SUBJECT, Notification
from .receivers import Audience
from .schemas import CHANNELS, INAPP


class Sent(NamedTuple):
    """What came of it. Without `inapp` there is no notification, and none is stored."""

    notification: Notification | None
    deliveries: CountsByChannel


@dataclass(eq=False)
class Notifications:
    session: AnySession
    account_model: type[Any]
    outbox: Outbox
    hooks: Hooks
    clock: Clock

    def send(self, draft: Draft, receiver_ids: Iterable[Any] | None) -> Sent:
        """To these accounts, each once; None: to all."""
        names = list(dict.fromkeys(draft.channels))
        if not names:
            raise NoChannels
        if draft.notification_type == ADMIN and INAPP in names and draft.sender_id is None:
            raise SenderRequired
        with transaction(self.session), unhurried(self.session):
            audience = Audience.of(self.session, self.account_model, receiver_ids)
            if self.hooks.registered("receivers"):
                audience = audience.rewritten(self.hooks.receivers)
            notification = None
            if INAPP in names:
                notification = self._store(draft, names)
                notification.receivers = audience.fill_inbox(notification.id)
            deliveries = self._send_out(draft, names, notification, audience)
            if notification is not None and is_kept(notification.receivers):
                notification.counts = NotificationCounts(0, deliveries)._asdict()
                notification.counted_at = notification.created_at
            self._record(draft, names, notification)
            return Sent(notification, deliveries)

    def unknown(self, channels: Iterable[str]) -> list[str]:
        """Of these, the channels that nobody knows."""
        return sorted(set(channels) - {*CHANNELS, *self.outbox.channels.names()})

    def _record(self, draft: Draft, names: list[str], stored: Notification | None) -> None:
        record(
            self.session,
            "notification.sent",
            account_id=draft.sender_id,
            target=Target(SUBJECT, stored.id) if stored else None,
            channels=names,
            notification_type=draft.notification_type,
            scope=draft.scope,
            receivers=stored.receivers if stored else None,
        )

    def _store(self, draft: Draft, names: list[str]) -> Notification:
        notification = Notification(
            title=draft.title,
            message=draft.message,
            channels=names,
            sender_id=draft.sender_id,
            notification_type=draft.notification_type,
            scope=draft.scope,
            created_at=self.clock.now(),
        )
        self.session.add(notification)
        self.session.flush()
        return notification

    def _send_out(
        self, draft: Draft, names: list[str], notification: Notification | None, audience: Audience
    ) -> CountsByChannel:
        message = NewMessage(
            title=draft.title,
            message=draft.message,
            template_file=draft.template_file,
            context=draft.context,
        )
        stored_as = notification.id if notification else None
        return self.outbox.put(
            message,
            audience.targets(stored_as),
            [name for name in names if name != INAPP],
            Subject(SUBJECT, stored_as) if stored_as is not None else None,
        )
