"""Read counts and delivery counts of notifications.

Counting reads a row for each receiver, and a page can show a hundred broadcasts to a million
receivers each. So the counts of large notifications are stored, and stay valid for a time. A page
recounts the notification with the oldest counts, and more of them for a limited time.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic
from typing import Any, NamedTuple

from sqlalchemy import Row, func, select, update

from ..core.clock import Clock
from ..core.db.transaction import (
    AnySession,
    execute_bulk,
    extended_timeout,
    transaction,
    write_after_read,
)
from ..delivery.outbox.enqueue import CountsByChannel, counts_by_subject
from ..delivery.outbox.models import SKIPPED, STATES
from ..notifications.models import EXPANDING, SUBJECT, Expansion, InboxItem, Notification

# The counts of notifications with more receivers are stored.
LARGE = 2500
# Seconds after which a page recounts no further notification.
COUNTING_SECONDS = 0.25
# Stored counts stay valid this long for each receiver: a minute for a million.
VALID_SECONDS = 0.00006

_NEVER = datetime(1, 1, 1, tzinfo=UTC)


def is_large(receivers: int) -> bool:
    return receivers > LARGE


class NotificationCounts(NamedTuple):
    read: int
    deliveries: CountsByChannel


@dataclass(eq=False)
class NotificationCounter:
    session: AnySession
    clock: Clock

    def read(
        self, notifications: Sequence[Row[Any]], *, is_exact: bool = False
    ) -> dict[int, NotificationCounts]:
        """Return the counts of each notification; with `is_exact`, none are older than now."""
        found = self.count(each.id for each in notifications if not is_large(each.receivers))
        large = [each for each in notifications if is_large(each.receivers)]
        large.sort(key=lambda each: each.counted_at or _NEVER)
        until = monotonic() + COUNTING_SECONDS
        for number, each in enumerate(large):
            may_recount = number == 0 or monotonic() < until
            is_usable = self._is_valid(each) or not may_recount
            if each.counts is not None and is_usable and not is_exact:
                found[each.id] = NotificationCounts(**each.counts)
            else:
                found[each.id] = self.recount(each.id)
        return found

    def recount(self, notification_id: int) -> NotificationCounts:
        """Store and return new counts."""
        with extended_timeout(self.session):
            counts = self.count([notification_id])[notification_id]
        write_after_read(self.session, lambda: self._store(notification_id, counts))
        return counts

    def _is_valid(self, notification: Row[Any]) -> bool:
        if notification.counted_at is None:
            return False
        age = (self.clock.now() - notification.counted_at).total_seconds()
        return bool(age < VALID_SECONDS * notification.receivers)

    def _store(self, notification_id: int, counts: NotificationCounts) -> None:
        statement = (
            update(Notification)
            .where(Notification.id == notification_id)
            .values(counts=counts._asdict(), counted_at=self.clock.now())
        )
        with transaction(self.session) as session:
            execute_bulk(session, statement)

    def count(self, notification_ids: Iterable[int]) -> dict[int, NotificationCounts]:
        """Count with three queries for any number of notifications."""
        ids = list(notification_ids)
        if not ids:
            return {}
        reads = self._count_readers(ids)
        deliveries = counts_by_subject(self.session, SUBJECT, ids)
        self._add_unexpanded(deliveries, ids)
        return {
            each: NotificationCounts(reads.get(each, 0), deliveries.get(each, {})) for each in ids
        }

    def _count_readers(self, ids: list[int]) -> dict[int, int]:
        rows = (
            select(InboxItem.notification_id, func.count())
            .where(InboxItem.notification_id.in_(ids), InboxItem.is_read)
            .group_by(InboxItem.notification_id)
        )
        return dict(self.session.execute(rows).all())

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
                # The states of an expansion are also states of a delivery.
                states[state] += max(0, receivers - sum(states.values()))


def expansions_by_state(session: AnySession) -> dict[str, int]:
    """Return the number of pending and of failed expansions."""
    columns = select(Expansion.state, func.count()).where(Expansion.state != SKIPPED)
    rows = session.execute(columns.group_by(Expansion.state).order_by(Expansion.state))
    return {state: int(count) for state, count in rows}


def oldest_expansion(session: AnySession) -> datetime | None:
    """Return when the oldest unfinished expansion was created."""
    oldest = select(func.min(Expansion.created_at)).where(Expansion.state == EXPANDING)
    return session.scalar(oldest)
