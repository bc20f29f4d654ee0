"""The results of a broadcast: failures by reason, the speed of its delivery, and a file."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row, Select, func, literal_column, select

from ..core.actions import Target
from ..core.clock import Clock
from ..core.context import report_action
from ..core.db.base import timestamp_literal
from ..core.db.transaction import is_in_use, release, transaction
from ..core.types import JsonObject
from ..delivery.message import Subject
from ..delivery.outbox.models import (
    FAILED,
    IS_ENDED,
    LANES,
    PENDING,
    SENT,
    STOPPED,
    Delivery,
    OutgoingMessage,
    is_about,
    reason_code,
)
from ..notifications.actions import RESULT_DOWNLOADED
from ..notifications.models import SUBJECT
from .sent import SentItem, SentNotifications

# The speed is that of this time, or since the broadcast was sent.
RATE_PERIOD = timedelta(seconds=120)
# A speed of a shorter time says nothing.
MIN_SECONDS = 10.0
# The maximum number of recent deliveries that a speed is counted from.
MAX_RECENT = 5_000
BATCH_ROWS = 1_000


@dataclass(eq=False)
class Outcomes:
    sent: SentNotifications
    clock: Clock

    def failures(self, notification_id: int) -> Mapping[str, int]:
        """Return the reasons of failed deliveries, shortened to their codes, with their numbers
        among at most MAX_RECENT deliveries, the most frequent first."""
        is_own = Delivery.outgoing_id.in_(_messages(notification_id))
        failed = select(Delivery.reason).where(is_own, Delivery.state == FAILED).limit(MAX_RECENT)
        reasons = self.sent.session.scalars(failed)
        return dict(Counter(reason_code(each or "") for each in reasons).most_common())

    def retries(self, item: SentItem) -> Mapping[str, Row[Any]]:
        """Return the number of deliveries of each channel that wait for another attempt, the time
        of the next one, and why the last attempt of one of them has failed.

        At most MAX_RECENT deliveries are counted: the queue's index has them together.
        """
        columns = select(Delivery.channel, Delivery.due_at, Delivery.reason).where(
            Delivery.state == literal_column(f"'{PENDING}'"),
            Delivery.channel.in_(item["deliveries"]),
            Delivery.lane.in_(LANES),
            Delivery.due_at > self.clock.now(),
            Delivery.reason != STOPPED,
            Delivery.outgoing_id.in_(_messages(item["id"])),
        )
        waiting = columns.limit(MAX_RECENT).subquery().c
        number, at = func.count().label("number"), func.min(waiting.due_at).label("at")
        values = waiting.channel, number, at, func.min(waiting.reason).label("reason")
        counts = select(*values).group_by(waiting.channel)
        return {row.channel: row for row in self.sent.session.execute(counts)}

    def rates(self, notification_id: int, sent_at: datetime) -> Mapping[str, float]:
        """Return the deliveries per minute of each channel, where the speed is known."""
        now = self.clock.now()
        since = max(sent_at, now - RATE_PERIOD)
        found: dict[str, float] = {}
        for state in (SENT, FAILED):
            recent = self._recent(state, since)
            is_own = recent.c.outgoing_id.in_(_messages(notification_id))
            columns = recent.c.channel, is_own.label("is_own")
            counts = select(*columns, func.count(), func.min(recent.c.finished_at))
            rows = self.sent.session.execute(counts.group_by(*columns)).all()
            start, is_cut = since, sum(row[2] for row in rows) >= MAX_RECENT
            if is_cut:
                start = min(row[3] for row in rows)
            seconds = (now - start).total_seconds()
            if not is_cut and seconds < MIN_SECONDS:
                continue
            for channel, own, number, _first in rows:
                if own:
                    rate = number * 60 / max(seconds, 1.0)
                    found[channel] = found.get(channel, 0.0) + rate
        return found

    def export(
        self, notification_id: int, write: Callable[[Sequence[JsonObject]], bytes]
    ) -> Iterator[bytes]:
        """Return the deliveries as `write` returns them, one batch at a time. Raises
        NotificationNotFound."""
        session = self.sent.session
        # A session that the application uses is not released.
        in_use = is_in_use(session)
        self.sent.get(notification_id)
        with transaction(session):
            report_action(session, RESULT_DOWNLOADED, target=Target(SUBJECT, notification_id))
        return self._batches(notification_id, write, in_use)

    def _batches(
        self, notification_id: int, write: Callable[[Sequence[JsonObject]], bytes], in_use: bool
    ) -> Iterator[bytes]:
        session = self.sent.session
        is_own = Delivery.outgoing_id.in_(_messages(notification_id))
        bounds = select(func.min(Delivery.id), func.max(Delivery.id)).where(is_own)
        first, last = session.execute(bounds).one()
        after = -1 if first is None else first - 1
        while last is not None and after < last:
            ordered = _columns().where(is_own, Delivery.id > after, Delivery.id <= last)
            page = session.execute(ordered.order_by(Delivery.id).limit(BATCH_ROWS)).mappings()
            rows = self.sent.add_emails([dict(row) for row in page])
            if not rows:
                return
            after = rows[-1]["id"]
            written = write(rows)
            if not in_use:
                # A slow client does not keep a database connection.
                release(session)
            yield written

    def _recent(self, state: str, since: datetime) -> Any:
        """Select the newest deliveries with this result, which one range of an index has."""
        at = Delivery.finished_at
        rows = select(Delivery.channel, Delivery.outgoing_id, at).where(
            Delivery.state == state, IS_ENDED, at >= timestamp_literal(at, since)
        )
        return rows.order_by(at.desc()).limit(MAX_RECENT).subquery()


def _columns() -> Select[Any]:
    names = ("id", "channel", "receiver_id", "state", "reason", "attempts", "finished_at")
    return select(*(getattr(Delivery, name) for name in names))


def _messages(notification_id: int) -> Select[int]:
    return select(OutgoingMessage.id).where(is_about(Subject(SUBJECT, notification_id)))
