"""The outbox: stores a message once, with a delivery for each receiver and channel.

A message is stored in the sender's transaction and sent after its commit. Receivers are never
loaded: the deliveries of a channel are one `INSERT … SELECT`.
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
    not_,
    select,
    update,
)
from sqlalchemy import cast as as_sql

from ...core.clock import Clock
from ...core.db.account_ids import INTEGER_IDS, MAX_STRING_LENGTH, IdKind, IntegerIds
from ...core.db.transaction import AnySession, after_commit, execute_bulk, transaction
from ..channel import Channel, Channels, RecipientChoices
from ..message import EMAIL, NewMessage, Subject
from .models import (
    FAILED,
    FEW,
    MANY,
    PENDING,
    SKIPPED,
    STATES,
    STOPPED,
    Delivery,
    OutgoingMessage,
    is_about,
    is_delayed,
)

log = logging.getLogger(__name__)

# A message with more receivers is a broadcast; other messages are sent before broadcasts.
FEW_RECEIVERS = 50


class Workers(Protocol):
    def wake(self, channels: Iterable[str]) -> None:
        """Start to send the new messages of these channels."""


class _NewDeliveries(NamedTuple):
    """A stored message, with the common values of its deliveries."""

    id: int
    lane: int
    kind: str | None
    email_if_unread_at: datetime | None
    now: datetime

    def due_at(self, channel: str) -> datetime:
        delayed = self.email_if_unread_at if channel == EMAIL else None
        return delayed or self.now


class _ChannelState(NamedTuple):
    channel: Channel
    disabled_reason: str | None


@dataclass(eq=False)
class Outbox:
    session: AnySession
    channels: Channels
    workers: Workers
    clock: Clock
    choices: RecipientChoices
    # The kind of the account ids.
    ids: IdKind = INTEGER_IDS

    def put(
        self,
        message: NewMessage,
        targets: Select[Any],
        channels: Iterable[str],
        subject: Subject | None = None,
        receivers: int | None = None,
    ) -> CountsByChannel:
        """Store a delivery for each target and channel, and return the counts by state.

        The targets are a query over the ids that the channels' address books use; `receivers` is
        their number, if it is known.
        """
        states = self._channel_states(channels)
        if not states:
            return {}
        if receivers is None:
            some = targets.limit(FEW_RECEIVERS + 1).subquery()
            receivers = self.session.scalar(select(func.count()).select_from(some)) or 0
        stored = self._store(message, subject, FEW if receivers <= FEW_RECEIVERS else MANY)
        names = self._store_deliveries(stored, targets, states)
        return counts_of_message(self.session, stored.id, names)

    def put_message(
        self, message: NewMessage, channels: Iterable[str], subject: Subject
    ) -> tuple[int, list[str]] | None:
        """Store a broadcast without its deliveries. Return its id and the channels that send it,
        or None without such a channel."""
        states = self._channel_states(channels)
        if not states:
            return None
        stored = self._store(message, subject, MANY)
        return stored.id, [state.channel.name for state in states]

    def add_targets(self, message_id: int, targets: Select[Any], channels: Iterable[str]) -> None:
        """Store deliveries of a broadcast. A channel that no longer exists is ignored."""
        found = [channel for name in channels if (channel := self.channels.get(name)) is not None]
        states = [_ChannelState(channel, channel.disabled_reason()) for channel in found]
        columns = select(OutgoingMessage.kind, OutgoingMessage.email_if_unread_at)
        kind, delayed = self.session.execute(columns.where(OutgoingMessage.id == message_id)).one()
        stored = _NewDeliveries(message_id, MANY, kind, delayed, self.clock.now())
        self._store_deliveries(stored, targets, states)

    def recipients(
        self, channel: Channel, targets: Select[Any], kind: str | None
    ) -> tuple[Select[Any], ColumnElement[str | None]]:
        """Return the query of a channel's recipients, and a column with the reason to skip one."""
        entries, reason = channel.address_book.entries(targets)
        return self.choices.skip_opted_out(entries, reason, kind, channel.name)

    def retry(self, channel: str | None = None, subject: Subject | None = None) -> int:
        """Retry the failed deliveries from the first attempt and return their number."""
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
        with transaction(self.session) as session:
            count = int(execute_bulk(session, failed).rowcount)
            if count:
                names = [channel] if channel else self.channels.names()
                after_commit(session, lambda: self.workers.wake(names))
            return count

    def stop(self, subject: Subject) -> int:
        """Skip the pending deliveries in the caller's transaction and return their number.

        A delivery that a worker has claimed is only marked: its worker ends it with this attempt.
        """
        now, about = self.clock.now(), select(OutgoingMessage.id).where(is_about(subject))
        is_claimed = Delivery.claim.is_not(None) & (Delivery.due_at > now)
        state = case((is_claimed, PENDING), else_=SKIPPED)
        unsent = (
            update(Delivery)
            .where(Delivery.outgoing_id.in_(about), Delivery.state == PENDING)
            .values(state=state, reason=STOPPED, finished_at=now)
        )
        return int(execute_bulk(self.session, unsent).rowcount)

    def _channel_states(self, names: Iterable[str]) -> list[_ChannelState]:
        """Return the channels that have a handler; log the others, which are skipped."""
        found = []
        for name in names:
            channel = self.channels.get(name)
            if channel is None:
                log.warning("The channel '%s' is not handled: nothing is sent on it.", name)
                continue
            if (reason := channel.disabled_reason()) is not None:
                # Emails are disabled on purpose; SMS are disabled by missing settings.
                level = logging.ERROR if name == "sms" else logging.WARNING
                log.log(level, "Nothing is sent on the channel '%s': %s", name, reason)
            found.append(_ChannelState(channel, reason))
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
            is_personal=message.is_personal,
            url=message.url,
            kind=message.kind,
            data=message.data,
            email_if_unread_at=message.email_if_unread_at,
            created_at=now,
        )
        message_id = self.session.execute(statement.returning(OutgoingMessage.id)).scalar_one()
        return _NewDeliveries(message_id, lane, message.kind, message.email_if_unread_at, now)

    def _store_deliveries(
        self, message: _NewDeliveries, targets: Select[Any], states: Iterable[_ChannelState]
    ) -> list[str]:
        """Insert with one statement for each channel; return the channels with workers to wake."""
        names = []
        for channel, disabled_reason in states:
            names.append(channel.name)
            receivers, reason = self.recipients(channel, targets, message.kind)
            if not isinstance(self.ids, IntegerIds):
                [receiver_id] = receivers.selected_columns
                receivers = receivers.with_only_columns(
                    as_sql(receiver_id, String(MAX_STRING_LENGTH))
                )
            state: ColumnElement[str] = case((reason.is_(None), PENDING), else_=SKIPPED)
            if disabled_reason is not None:
                state, reason = literal(SKIPPED), literal(disabled_reason, String)
            values: dict[str, ColumnElement[Any]] = {
                "outgoing_id": literal(message.id),
                "channel": literal(channel.name),
                "lane": literal(message.lane),
                "state": state,
                "reason": reason,
                "attempts": literal(0),
                "due_at": literal(message.due_at(channel.name), Delivery.due_at.type),
            }
            rows = receivers.add_columns(*values.values())
            statement = insert(cast(Table, Delivery.__table__))
            self.session.execute(statement.from_select(["receiver_id", *values], rows).inline())
        after_commit(self.session, lambda: self.workers.wake(names))
        return names


# The number of deliveries by state, and by channel and state.
CountsByState = dict[str, int]
CountsByChannel = dict[str, CountsByState]


def counts_of_message(
    session: AnySession, message_id: int, channels: Iterable[str]
) -> CountsByChannel:
    """Return the counts of a message, with zeros for channels without receivers."""
    found = {channel: _zeros() for channel in channels}
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
    """Return the counts of the messages about each subject, read by one query."""
    subject = OutgoingMessage.subject_id
    rows: Any = session.execute(
        select(subject, Delivery.channel, Delivery.state, func.count())
        .join(OutgoingMessage, OutgoingMessage.id == Delivery.outgoing_id)
        .where(OutgoingMessage.subject_kind == kind, subject.in_(list(ids)))
        .group_by(subject, Delivery.channel, Delivery.state)
    )
    found: dict[int, CountsByChannel] = {}
    for subject_id, channel, state, count in rows:
        found.setdefault(subject_id, {}).setdefault(channel, _zeros())[state] = count
    return found


def counts_by_channel(session: AnySession) -> CountsByChannel:
    """Return the counts of all deliveries, without zeros."""
    rows = session.execute(
        select(Delivery.channel, Delivery.state, func.count())
        .group_by(Delivery.channel, Delivery.state)
        .order_by(Delivery.channel, Delivery.state)
    )
    found: CountsByChannel = {}
    for channel, state, count in rows:
        found.setdefault(channel, {})[state] = count
    return found


def oldest_pending(session: AnySession) -> datetime | None:
    """Return when the oldest pending delivery became due, which can be later than now."""
    delayed = is_delayed(Delivery.channel)
    firsts = (
        _first(OutgoingMessage.created_at, not_(delayed)),
        _first(OutgoingMessage.email_if_unread_at, delayed),
    )
    found = session.execute(select(*firsts)).one()
    return min((each for each in found if each is not None), default=None)


def _first(moment: object, condition: ColumnElement[bool]) -> Any:
    """Return the first moment of the messages with such a pending delivery."""
    pending = (Delivery.outgoing_id == OutgoingMessage.id, Delivery.state == PENDING, condition)
    unfinished = select(Delivery.id).where(*pending).correlate(OutgoingMessage).exists()
    return select(func.min(moment)).where(unfinished).scalar_subquery()


def _zeros() -> CountsByState:
    return dict.fromkeys(STATES, 0)
