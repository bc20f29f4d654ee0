"""Sends a notification: stores it, its inbox rows and its deliveries, all in one transaction.

Receivers are never loaded: the inbox rows are one `INSERT … SELECT`, and what goes out goes to the
accounts of those rows. A notification to very many is stored without them, for a worker to expand.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..core.actions import Target
from ..core.clock import Clock
from ..core.context import report_action
from ..core.db.transaction import AnySession, extended_timeout, transaction
from ..core.hooks import Hooks
from ..core.types import AccountModel
from ..delivery.message import NewMessage, Subject
from ..delivery.outbox.enqueue import CountsByChannel, Outbox
from .actions import NOTIFICATION_SENT
from .counts import NotificationCounts, is_kept
from .draft import Draft
from .errors import NoChannels, SenderRequired
from .expansions import Expansions
from .models import ADMIN, SUBJECT, Notification
from .receivers import Audience, Receivers
from .schemas import CHANNELS, INAPP


class SendResult(NamedTuple):
    """What came of it. Without `inapp` there is no notification, and none is stored."""

    notification: Notification | None
    deliveries: CountsByChannel


@dataclass(eq=False)
class Notifications:
    session: AnySession
    account_model: AccountModel
    outbox: Outbox
    hooks: Hooks
    clock: Clock
    expansions: Expansions
    # Up to so many receivers, the request itself stores their rows.
    inline_receivers: int

    def send(self, draft: Draft, to: Audience | Iterable[Any] | None) -> SendResult:
        """To the accounts of an audience, or with these ids, each once; None: to all."""
        names = list(dict.fromkeys(draft.channels))
        if not names:
            raise NoChannels
        if draft.notification_type == ADMIN and INAPP in names and draft.sender_id is None:
            raise SenderRequired
        with transaction(self.session), extended_timeout(self.session):
            receivers = Receivers.of(self.session, self.account_model, to)
            if self.hooks.registered("receivers"):
                receivers = receivers.rewritten(self.hooks.receivers)
            sent = self._send(draft, names, receivers)
            self._record(draft, names, sent.notification)
            return sent

    def unknown(self, channels: Iterable[str]) -> list[str]:
        """Return the unknown channels among these."""
        return sorted(set(channels) - {*CHANNELS, *self.outbox.channels.names()})

    def _record(self, draft: Draft, names: list[str], stored: Notification | None) -> None:
        report_action(
            self.session,
            NOTIFICATION_SENT,
            account_id=draft.sender_id,
            target=Target(SUBJECT, stored.id) if stored else None,
            channels=names,
            notification_type=draft.notification_type,
            scope=draft.scope,
            receivers=stored.receivers if stored else None,
        )

    def _send(self, draft: Draft, names: list[str], receivers: Receivers) -> SendResult:
        message = NewMessage(
            title=draft.title,
            message=draft.message,
            template_file=draft.template_file,
            context=draft.context,
        )
        count = receivers.count()
        channels = [name for name in names if name != INAPP]
        if INAPP not in names:
            # Nothing is stored that a worker could expand.
            targets = receivers.targets(None)
            return SendResult(None, self.outbox.put(message, targets, channels, None, count))
        notification = self._store(draft, names, count)
        if count > self.inline_receivers:
            deliveries = self.expansions.add(notification, receivers, message, channels)
        else:
            notification.receivers = receivers.fill_inbox(notification.id)
            targets, subject = receivers.targets(notification.id), Subject(SUBJECT, notification.id)
            deliveries = self.outbox.put(message, targets, channels, subject, count)
        if is_kept(notification.receivers):
            notification.counts = NotificationCounts(0, deliveries)._asdict()
            notification.counted_at = notification.created_at
        return SendResult(notification, deliveries)

    def _store(self, draft: Draft, names: list[str], receivers: int) -> Notification:
        notification = Notification(
            title=draft.title,
            message=draft.message,
            channels=names,
            sender_id=draft.sender_id,
            notification_type=draft.notification_type,
            scope=draft.scope,
            receivers=receivers,
            created_at=self.clock.now(),
        )
        self.session.add(notification)
        self.session.flush()
        return notification
