"""Statistics of the queue for a page, at a cost that does not grow with the queue."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, asc, case, desc, func, select, tuple_

from ...core.db.transaction import AnySession
from ...core.time_series import Series
from .models import (
    FAILED,
    IS_ENDED,
    PENDING,
    Delivery,
    OutgoingMessage,
    first_due_at,
    has_code,
    reason_code,
)

MAX_ROWS = 10_000
MAX_REASONS = 5


@dataclass(frozen=True)
class Backlog:
    by_channel: Mapping[str, int]
    # When the oldest counted delivery became due, or its next attempt.
    oldest: datetime | None
    # More deliveries exist than were counted.
    is_more: bool
    # The counted deliveries that wait for another attempt, and the time of the first attempt.
    retrying: int = 0
    next_attempt: datetime | None = None

    @property
    def total(self) -> int:
        return sum(self.by_channel.values())


def ended_series(state: str) -> Series:
    """Return the deliveries that were sent, or that failed, by the time of their end."""
    return Series(state, Delivery.finished_at, [Delivery.state == state, IS_ENDED])


def count_backlog(session: AnySession, most: int = MAX_ROWS) -> Backlog:
    unfinished = (
        select(Delivery.channel, Delivery.outgoing_id, Delivery.due_at, Delivery.reason)
        .where(Delivery.state == PENDING)
        .limit(most + 1)
        .subquery()
    )
    next_attempt = case((unfinished.c.reason.is_not(None), unfinished.c.due_at))
    due_from = func.coalesce(next_attempt, first_due_at(unfinished.c.channel))
    retrying = func.count(unfinished.c.reason), func.min(next_attempt)
    rows = session.execute(
        select(unfinished.c.channel, func.count(), func.min(due_from), *retrying)
        .join(OutgoingMessage, OutgoingMessage.id == unfinished.c.outgoing_id)
        .group_by(unfinished.c.channel)
        .order_by(unfinished.c.channel)
    ).all()
    by_channel = {channel: count for channel, count, *_ in rows}
    return Backlog(
        by_channel,
        min((row[2] for row in rows), default=None),
        sum(by_channel.values()) > most,
        sum(row[3] for row in rows),
        min((row[4] for row in rows if row[4]), default=None),
    )


def list_counted(
    session: AnySession,
    state: str,
    since: datetime,
    *,
    limit: int,
    before: int | None = None,
    after: int | None = None,
    channel: str | None = None,
    reason: str | None = None,
) -> Sequence[Any]:
    """Return the deliveries that `count_backlog` or a series counts, the newest first, or the
    oldest first of those `after` a delivery.

    The filters by channel and reason, one that `reason_code` has shortened, find deliveries among
    the first MAX_ROWS of them.
    """
    names = ("id", "outgoing_id", "receiver_id", "channel", "state", "reason", "finished_at")
    shown = (*names, "attempts", "due_at")
    columns = select(*(getattr(Delivery, name) for name in shown)).where(Delivery.state == state)
    is_pending = state == PENDING
    if not is_pending:
        columns = _ended_since(columns, since)
    position = before if after is None else after
    if position is not None:
        columns = columns.where(_is_past(session, position, is_pending, after is not None))
    order = (Delivery.id,) if is_pending else (Delivery.finished_at, Delivery.id)
    direct = desc if after is None else asc
    found = columns.order_by(*(direct(each) for each in order)).limit(MAX_ROWS).subquery().c
    message = (OutgoingMessage.subject_kind, OutgoingMessage.subject_id, OutgoingMessage.created_at)
    query = (
        select(*found, *message)
        .join(OutgoingMessage, OutgoingMessage.id == found.outgoing_id)
        .order_by(*(direct(found[each.key]) for each in order))
        .limit(limit)
    )
    if channel is not None:
        query = query.where(found.channel == channel)
    if reason is not None:
        query = query.where(*has_code(found.reason, reason))
    return session.execute(query).all()


def _ended_since(query: Select[Any], since: datetime) -> Select[Any]:
    return query.where(Delivery.finished_at >= since, IS_ENDED)


def _is_past(
    session: AnySession, delivery_id: int, is_pending: bool, is_newer: bool
) -> ColumnElement[bool]:
    """Return the condition for the deliveries of a list that are older than this one, or newer."""
    ended = select(Delivery.finished_at).where(Delivery.id == delivery_id)
    finished_at = None if is_pending else session.scalar(ended)
    if finished_at is None:
        return Delivery.id > delivery_id if is_newer else Delivery.id < delivery_id
    place, end = tuple_(Delivery.finished_at, Delivery.id), (finished_at, delivery_id)
    return place > end if is_newer else place < end


def count_failures(session: AnySession, since: datetime, most: int = MAX_ROWS) -> Mapping[str, int]:
    """Return the most frequent reasons of the newest failures, shortened to their codes, with
    their counts."""
    failed = select(Delivery.reason).where(Delivery.state == FAILED, Delivery.reason.is_not(None))
    newest = _ended_since(failed, since).order_by(Delivery.finished_at.desc()).limit(most)
    # Answers of servers contain addresses, so that each of them is another text.
    codes = Counter(reason_code(reason or "") for reason in session.scalars(newest))
    return dict(codes.most_common(MAX_REASONS))
