"""Statistics of the queue for a page, at a cost that does not grow with the queue."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, select

from ...core.db.transaction import AnySession
from .models import FAILED, PENDING, SENT, Delivery, OutgoingMessage

MAX_ROWS = 10_000
MAX_REASONS = 5


@dataclass(frozen=True)
class Backlog:
    by_channel: Mapping[str, int]
    # When the oldest counted delivery became due.
    oldest: datetime | None
    # More deliveries exist than were counted.
    is_more: bool

    @property
    def total(self) -> int:
        return sum(self.by_channel.values())


@dataclass(frozen=True)
class RecentResults:
    """Deliveries that ended since a moment, among the newest ones."""

    sent: int
    failed: int
    # The most frequent reasons of failures, with their counts.
    reasons: Mapping[str, int]
    # Older deliveries exist that were not read.
    is_more: bool


def count_backlog(session: AnySession, most: int = MAX_ROWS) -> Backlog:
    unfinished = (
        select(Delivery.channel, Delivery.outgoing_id)
        .where(Delivery.state == PENDING)
        .limit(most + 1)
        .subquery()
    )
    rows = session.execute(
        select(unfinished.c.channel, func.count(), func.min(OutgoingMessage.created_at))
        .join(OutgoingMessage, OutgoingMessage.id == unfinished.c.outgoing_id)
        .group_by(unfinished.c.channel)
        .order_by(unfinished.c.channel)
    ).all()
    by_channel = {channel: count for channel, count, _ in rows}
    return Backlog(
        by_channel,
        min((oldest for *_, oldest in rows), default=None),
        sum(by_channel.values()) > most,
    )


def list_counted(
    session: AnySession,
    state: str,
    since: datetime,
    *,
    limit: int,
    before: int | None = None,
    channel: str | None = None,
    reason: str | None = None,
    most: int = MAX_ROWS,
) -> Sequence[Any]:
    """Return the deliveries that `count_backlog` or `count_recent` counts, the newest first."""
    names = ("id", "outgoing_id", "receiver_id", "channel", "state", "reason", "finished_at")
    columns = select(*(getattr(Delivery, name) for name in names))
    newest = columns.order_by(Delivery.id.desc())
    read = (columns.where(Delivery.state == PENDING) if state == PENDING else newest).limit(most)
    found = read.subquery().c
    message = (OutgoingMessage.subject_kind, OutgoingMessage.subject_id, OutgoingMessage.created_at)
    query = (
        select(*found, *message)
        .join(OutgoingMessage, OutgoingMessage.id == found.outgoing_id)
        .where(found.state == state)
        .order_by(found.id.desc())
        .limit(limit)
    )
    if state != PENDING:
        query = query.where(found.finished_at >= since)
    if before is not None:
        query = query.where(found.id < before)
    if channel is not None:
        query = query.where(found.channel == channel)
    if reason is not None:
        query = query.where(found.reason == reason)
    return session.execute(query).all()


def count_recent(session: AnySession, since: datetime, most: int = MAX_ROWS) -> RecentResults:
    newest = (
        select(Delivery.state, Delivery.reason, Delivery.finished_at)
        .order_by(Delivery.id.desc())
        .limit(most)
        .subquery()
    )
    state, at = newest.c.state, newest.c.finished_at
    counts: dict[Any, int] = {}
    total = 0
    ended = at >= since
    for name, recent, count in session.execute(
        select(state, ended.label("ended"), func.count()).group_by(state, "ended")
    ):
        total += count
        if recent:
            counts[name] = count
    reasons: dict[str, int] = {}
    if counts.get(FAILED):
        frequency = func.count()
        found = session.execute(
            select(newest.c.reason, frequency)
            .where(state == FAILED, ended, newest.c.reason.is_not(None))
            .group_by(newest.c.reason)
            .order_by(frequency.desc(), newest.c.reason)
            .limit(MAX_REASONS)
        )
        reasons = {str(reason): count for reason, count in found}
    return RecentResults(counts.get(SENT, 0), counts.get(FAILED, 0), reasons, total >= most)
