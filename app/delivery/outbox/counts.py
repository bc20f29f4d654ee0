"""How the deliveries stand: of one message, of what messages are about, and of all."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import func, select

from ...core.db.transaction import AnySession
from .models import PENDING, STATES, Delivery, OutgoingMessage

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
