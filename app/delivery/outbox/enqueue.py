"""What others put into the outbox: a message once, and a delivery for each receiver and channel.

A message is stored in the sender's transaction and sent after its commit. Receivers are never
loaded: for one or for all, the deliveries of a channel are one `INSERT … SELECT`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, Protocol, cast

import orjson
from sqlalchemy import (
    ColumnElement,
    Select,
    String,
    Table,
    case,
    func,
    insert,
    literal,
    select,
    update,
)
from sqlalchemy import cast as as_sql

from ...core.clock import Clock
from ...core.db.account_ids import INTEGER_IDS, MAX_STRING_LENGTH, IdKind, IntegerIds
from ...core.db.transaction import AnySession, after_commit, transaction
from ..channel import Channel, Channels
from ..message import NewMessage, Subject
from .models import FAILED, FEW, MANY, PENDING, SKIPPED, STATES, Delivery, OutgoingMessage, is_about

log = logging.getLogger(__name__)

# Up to so many receivers, a message is no broadcast and does not wait behind one.
FEW_RECEIVERS = 50


class Workers(Protocol):
    def wake(self, channels: Iterable[str]) -> None:
        """There is something new on these channels."""


class _NewDeliveries(NamedTuple):
    """A stored message, and what its deliveries have in common."""

    id: int
    lane: int
    now: datetime


class _ChannelState(NamedTuple):
    channel: Channel
    # Why nothing leaves on it now, or nothing.
    off: str | None


@dataclass(eq=False)
class Outbox:
    session: AnySession
    channels: Channels
    workers: Workers
    clock: Clock
    # Of the accounts.
    ids: IdKind = INTEGER_IDS

    def put(
        self,
        message: NewMessage,
        targets: Select[Any],
        channels: Iterable[str],
        subject: Subject | None = None,
        receivers: int | None = None,
    ) -> CountsByChannel:
        """A delivery to each target on each of these channels; says how many are in which state.

        The targets are a query over the ids of what the channels' address books know; `receivers`
        is their number, where it is known.
        """
        handled = self._handled(channels)
        if not handled:
            return {}
        if receivers is None:
            some = targets.limit(FEW_RECEIVERS + 1).subquery()
            receivers = self.session.scalar(select(func.count()).select_from(some)) or 0
        stored = self._store(message, subject, FEW if receivers <= FEW_RECEIVERS else MANY)
        names = self._store_deliveries(stored, targets, handled)
        return counts_of_message(self.session, stored.id, names)

    def put_message(
        self, message: NewMessage, channels: Iterable[str], subject: Subject
    ) -> tuple[int, list[str]] | None:
        """Store a message to many without its deliveries; returns its id, and the channels that
        send it. None where no channel does."""
        handled = self._handled(channels)
        if not handled:
            return None
        stored = self._store(message, subject, MANY)
        return stored.id, [each.channel.name for each in handled]

    def add_targets(self, message_id: int, targets: Select[Any], channels: Iterable[str]) -> None:
        """Store deliveries of such a message. A channel that does not exist any more is ignored."""
        found = [channel for name in channels if (channel := self.channels.get(name)) is not None]
        handled = [_ChannelState(channel, channel.off()) for channel in found]
        self._store_deliveries(_NewDeliveries(message_id, MANY, self.clock.now()), targets, handled)

    def retry(self, channel: str | None = None, subject: Subject | None = None) -> int:
        """What failed is tried again from the beginning; says how much that is."""
        failed = (
            update(Delivery)
            .where(Delivery.state == FAILED)
            .values(state=PENDING, attempts=0, due_at=self.clock.now(), finished_at=None)
        )
        if channel is not None:
            failed = failed.where(Delivery.channel == channel)
        if subject is not None:
            about = select(OutgoingMessage.id).where(is_about(subject))
            failed = failed.where(Delivery.outgoing_id.in_(about))
        with transaction(self.session):
            done: Any = self.session.execute(
                failed, execution_options={"synchronize_session": False}
            )
            if done.rowcount:
                names = [channel] if channel else self.channels.names()
                after_commit(self.session, lambda: self.workers.wake(names))
            return int(done.rowcount)

    def _handled(self, names: Iterable[str]) -> list[_ChannelState]:
        """Return the channels that have a handler; log the others, which are skipped."""
        found = []
        for name in names:
            channel = self.channels.get(name)
            if channel is None:
                log.warning("The channel '%s' is not handled: nothing is sent on it.", name)
                continue
            if (off := channel.off()) is not None:
                # A mail that is switched off is so by intent; an SMS that is not set up is not.
                level = logging.ERROR if name == "sms" else logging.WARNING
                log.log(level, "Nothing is sent on the channel '%s': %s", name, off)
            found.append(_ChannelState(channel, off))
        return found

    def _store(self, message: NewMessage, subject: Subject | None, lane: int) -> _NewDeliveries:
        now = self.clock.now()
        statement = insert(OutgoingMessage).values(
            subject_kind=subject.kind if subject else None,
            subject_id=subject.id if subject else None,
            title=message.title,
            message=message.message,
            template_file=message.template_file,
            context=orjson.dumps(dict(message.context)).decode() if message.context else None,
            created_at=now,
        )
        message_id = self.session.execute(statement.returning(OutgoingMessage.id)).scalar_one()
        return _NewDeliveries(message_id, lane, now)

    def _store_deliveries(
        self, message: _NewDeliveries, targets: Select[Any], handled: Iterable[_ChannelState]
    ) -> list[str]:
        """Insert with one statement for each channel; return the channels with workers to wake."""
        names = []
        for channel, off in handled:
            names.append(channel.name)
            receivers, why_not = channel.address_book.entries(targets)
            if not isinstance(self.ids, IntegerIds):
                [receiver_id] = receivers.selected_columns
                receivers = receivers.with_only_columns(
                    as_sql(receiver_id, String(MAX_STRING_LENGTH))
                )
            state: ColumnElement[str] = case((why_not.is_(None), PENDING), else_=SKIPPED)
            if off is not None:
                state, why_not = literal(SKIPPED), literal(off, String)
            values: dict[str, ColumnElement[Any]] = {
                "outgoing_id": literal(message.id),
                "channel": literal(channel.name),
                "lane": literal(message.lane),
                "state": state,
                "reason": why_not,
                "attempts": literal(0),
                "due_at": literal(message.now, Delivery.due_at.type),
            }
            rows = receivers.add_columns(*values.values())
            statement = insert(cast(Table, Delivery.__table__))
            self.session.execute(statement.from_select(["receiver_id", *values], rows).inline())
        after_commit(self.session, lambda: self.workers.wake(names))
        return names


# How many deliveries are in each state, and that for each channel.
CountsByState = dict[str, int]
CountsByChannel = dict[str, CountsByState]


def counts_of_message(
    session: AnySession, message_id: int, channels: Iterable[str]
) -> CountsByChannel:
    """On each of these channels, whether anybody was there to be sent to or not."""
    found = {channel: _none() for channel in channels}
    rows = session.execute(
        select(Delivery.channel, Delivery.state, func.count())
        .where(Delivery.outgoing_id == message_id)
        .group_by(Delivery.channel, Delivery.state)
    )
    for channel, state, count in rows:
        found[channel][state] = count
    return found


def counts_by_subject(
    session: AnySession, kind: str, ids: Iterable[int]
) -> dict[int, CountsByChannel]:
    """Of messages about each of these, in one query."""
    subject = OutgoingMessage.subject_id
    rows: Any = session.execute(
        select(subject, Delivery.channel, Delivery.state, func.count())
        .join(OutgoingMessage, OutgoingMessage.id == Delivery.outgoing_id)
        .where(OutgoingMessage.subject_kind == kind, subject.in_(list(ids)))
        .group_by(subject, Delivery.channel, Delivery.state)
    )
    found: dict[int, CountsByChannel] = {}
    for subject_id, channel, state, count in rows:
        found.setdefault(subject_id, {}).setdefault(channel, _none())[state] = count
    return found


def counts_by_channel(session: AnySession) -> CountsByChannel:
    """Of all there are, only those states that there are."""
    rows = session.execute(
        select(Delivery.channel, Delivery.state, func.count())
        .group_by(Delivery.channel, Delivery.state)
        .order_by(Delivery.channel, Delivery.state)
    )
    found: CountsByChannel = {}
    for channel, state, count in rows:
        found.setdefault(channel, {})[state] = count
    return found


def oldest_waiting(session: AnySession) -> datetime | None:
    """Since when the oldest unfinished delivery has been waiting."""
    unfinished = (
        select(Delivery.id)
        .where(Delivery.outgoing_id == OutgoingMessage.id, Delivery.state == PENDING)
        .exists()
    )
    return session.scalar(select(func.min(OutgoingMessage.created_at)).where(unfinished))


def _none() -> CountsByState:
    return dict.fromkeys(STATES, 0)
