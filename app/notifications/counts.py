"""How many have read a notification, and what became of its deliveries.

Counting looks at a row for each receiver, and a page may be a hundred broadcasts to a million each.
So a page counts the large ones only while there is time, and tells of the others what they were
when they were last counted. Those from before anybody kept that are counted first, one at least for
each page, and nothing is said of the rest until it is their turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic
from typing import NamedTuple

from sqlalchemy import func, select, update

from ..core.clock import Clock
from ..core.db.transaction import AnySession, extended_timeout, transaction
from ..core.types import JsonObject
from ..delivery.outbox.enqueue import CountsByChannel, counts_by_subject
from ..delivery.outbox.models import STATES
from .models import EXPANDING, SUBJECT, Expansion, InboxItem, Notification

# Up to so many receivers it costs next to nothing, and what was counted need not be kept.
QUICKLY_COUNTED = 1000
COUNTING_SECONDS = 0.25
# For so long what was counted is told again, for each so many receivers: a million take a minute.
LATELY_SECONDS = 0.06

_NEVER = datetime(1, 1, 1, tzinfo=UTC)


def is_kept(receivers: int) -> bool:
    return receivers > QUICKLY_COUNTED


class NotificationCounts(NamedTuple):
    read: int
    deliveries: CountsByChannel


class LastCounted(NamedTuple):
    """The stored columns of a notification that the counts need."""

    id: int
    receivers: int
    counts: JsonObject | None
    counted_at: datetime | None


@dataclass(eq=False)
class NotificationCounter:
    session: AnySession
    clock: Clock

    def last(self, notifications: Sequence[LastCounted]) -> dict[int, NotificationCounts]:
        """Counts those alone that take no time."""
        found = self.count(each.id for each in notifications if not is_kept(each.receivers))
        for each in notifications:
            if each.id not in found and each.counts is not None:
                found[each.id] = NotificationCounts(**each.counts)
        return found

    def lately(self, notification: LastCounted) -> NotificationCounts:
        counted_at, counts = notification.counted_at, notification.counts
        if counts is not None and counted_at is not None:
            age = (self.clock.now() - counted_at).total_seconds()
            if age < LATELY_SECONDS * notification.receivers / QUICKLY_COUNTED:
                return NotificationCounts(**counts)
        return self.now(notification)

    def of(self, notifications: Sequence[LastCounted]) -> dict[int, NotificationCounts]:
        """Return the counts of each notification. Of large ones, those never counted come first,
        then the oldest counts, as long as there is time."""
        found = self.count(each.id for each in notifications if not is_kept(each.receivers))
        many = [each for each in notifications if is_kept(each.receivers)]
        until = monotonic() + COUNTING_SECONDS
        many.sort(key=lambda each: each.counted_at or _NEVER)
        for number, each in enumerate(many):
            if monotonic() < until or (number == 0 and each.counts is None):
                found[each.id] = self.now(each)
            elif each.counts is not None:
                found[each.id] = NotificationCounts(**each.counts)
        return found

    def now(self, notification: LastCounted) -> NotificationCounts:
        """Return new counts, and store those of a large notification."""
        if not is_kept(notification.receivers):
            return self.count([notification.id])[notification.id]
        with transaction(self.session), extended_timeout(self.session):
            counts = self.count([notification.id])[notification.id]
            self.session.execute(
                update(Notification)
                .where(Notification.id == notification.id)
                .values(counts=counts._asdict(), counted_at=self.clock.now()),
                execution_options={"synchronize_session": False},
            )
            return counts

    def count(self, notification_ids: Iterable[int]) -> dict[int, NotificationCounts]:
        """Three queries, however many there are."""
        ids = list(notification_ids)
        if not ids:
            return {}
        read = select(InboxItem.notification_id, func.count()).where(
            InboxItem.notification_id.in_(ids), InboxItem.is_read
        )
        rows = self.session.execute(read.group_by(InboxItem.notification_id))
        reads = {notification_id: int(count) for notification_id, count in rows}
        deliveries = counts_by_subject(self.session, SUBJECT, ids)
        self._add_unexpanded(deliveries, ids)
        return {
            each: NotificationCounts(reads.get(each, 0), deliveries.get(each, {})) for each in ids
        }

    def _add_unexpanded(self, deliveries: dict[int, CountsByChannel], ids: list[int]) -> None:
        """Add the deliveries that an expansion has still to store, so that the states of a channel
        sum up to the receivers."""
        expansions = self.session.execute(
            select(
                Expansion.notification_id,
                Expansion.channels,
                Expansion.state,
                Notification.receivers,
            )
            .join(Notification, Notification.id == Expansion.notification_id)
            .where(Expansion.notification_id.in_(ids))
        )
        for notification_id, channels, state, receivers in expansions:
            counts = deliveries.setdefault(notification_id, {})
            for name in channels:
                states = counts.setdefault(name, dict.fromkeys(STATES, 0))
                # An expansion is pending or failed, as a delivery is.
                states[state] += max(0, receivers - sum(states.values()))


def expansions_by_state(session: AnySession) -> dict[str, int]:
    """How many broadcasts are being expanded, and how many were given up."""
    rows = session.execute(
        select(Expansion.state, func.count()).group_by(Expansion.state).order_by(Expansion.state)
    )
    return {state: int(count) for state, count in rows}


def oldest_expansion(session: AnySession) -> datetime | None:
    """Since when the oldest unfinished expansion has been waiting."""
    oldest = select(func.min(Expansion.created_at)).where(Expansion.state == EXPANDING)
    return session.scalar(oldest)
