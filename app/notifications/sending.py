"""Sends a notification: stores it, its inbox rows and its deliveries, all in one transaction.

Receivers are never loaded: whether one account or all of them, the inbox rows are one
`INSERT … SELECT`, and the deliveries of each channel another one from those rows.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson
from sqlalchemy import insert

from ..core.clock import Clock
from ..core.http.fields import storable
from ..core.patience import unhurried
from ..core.transaction import AnySession, after_commit, transaction
from ..delivery.channel import Channel, Channels
from ..delivery.engine import Engine
from ..delivery.models import OutgoingMessage
from ..hooks import Hooks
from .deliveries import CountsByChannel, Outgoing
from .errors import NoChannels, SenderRequired
from .models import (
    ACCOUNT_SCOPE,
    ADMIN,
    LINE_BREAK,
    MESSAGE_LENGTH,
    SYSTEM,
    TITLE_LENGTH,
    Notification,
)
from .receivers import Audience
from .standing import Standing, is_kept

log = logging.getLogger(__name__)

INAPP = "inapp"
# The contract's channels; a host's own come on top.
CHANNELS = (INAPP, "push", "email", "sms", "discord")


@dataclass(frozen=True)
class Draft:
    title: str
    message: str
    channels: Sequence[str]
    notification_type: str = SYSTEM
    scope: str = ACCOUNT_SCOPE
    sender_id: int | None = None
    template_file: str | None = None
    context: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """What the route's schema refuses, for host code: one database would take it."""
        if not self.title or len(self.title) > TITLE_LENGTH or LINE_BREAK.search(self.title):
            raise ValueError(f"A title is one line of 1 to {TITLE_LENGTH} characters")
        if not self.message or len(self.message) > MESSAGE_LENGTH:
            raise ValueError(f"A message has 1 to {MESSAGE_LENGTH} characters")
        if not (storable(self.title) and storable(self.message)):
            raise ValueError("A title and a message have no NUL and no lone surrogates")


class Sent(NamedTuple):
    """What came of it. Without `inapp` there is no notification, and none is stored."""

    notification: Notification | None
    deliveries: CountsByChannel


class Sending:
    def __init__(
        self,
        session: AnySession,
        account_model: type[Any],
        channels: Channels,
        engine: Engine,
        hooks: Hooks,
        clock: Clock,
    ) -> None:
        self.session = session
        self.account_model = account_model
        self.channels = channels
        self.engine = engine
        self.hooks = hooks
        self.clock = clock

    def known_channels(self) -> set[str]:
        return {*CHANNELS, *self.channels.names()}

    def send(self, draft: Draft, receiver_ids: Iterable[int] | None) -> Sent:
        """To these accounts, each once; None: to all."""
        names = list(dict.fromkeys(draft.channels))
        if not names:
            raise NoChannels
        if draft.notification_type == ADMIN and INAPP in names and draft.sender_id is None:
            raise SenderRequired
        with transaction(self.session), unhurried(self.session):
            audience = Audience.of(self.session, self.account_model, receiver_ids)
            if self.hooks.receivers is not None:
                audience = audience.rewritten(self.hooks.receivers)
            notification = None
            if INAPP in names:
                notification = self._store(draft, names)
                notification.receivers = audience.fill_inbox(notification.id)
            deliveries = self._queue(draft, names, notification, audience)
            if notification is not None and is_kept(notification.receivers):
                notification.standing = Standing(0, deliveries)._asdict()
                notification.counted_at = notification.created_at
            return Sent(notification, deliveries)

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

    def _queue(
        self, draft: Draft, names: list[str], notification: Notification | None, audience: Audience
    ) -> CountsByChannel:
        channels = self._handled(names)
        if not channels:
            return {}
        notification_id = notification.id if notification else None
        now = self.clock.now()
        outgoing = Outgoing(self._message(draft, notification_id), notification_id, audience, now)
        counts = {channel.name: outgoing.store(self.session, channel) for channel in channels}
        after_commit(self.session, lambda: self.engine.wake(list(counts)))
        return counts

    def _message(self, draft: Draft, notification_id: int | None) -> int:
        statement = insert(OutgoingMessage).values(
            notification_id=notification_id,
            title=draft.title,
            message=draft.message,
            template_file=draft.template_file,
            context=orjson.dumps(dict(draft.context)).decode() if draft.context else None,
            created_at=self.clock.now(),
        )
        return int(self.session.execute(statement.returning(OutgoingMessage.id)).scalar_one())

    def _handled(self, names: Iterable[str]) -> list[Channel]:
        """The channels that somebody handles; the others are passed over, and the log says so."""
        found = []
        for name in names:
            channel = self.channels.get(name)
            if channel is not None:
                found.append(channel)
            elif name != INAPP:
                log.warning("The channel '%s' is not handled: nothing is sent on it.", name)
        return found
