"""Large broadcasts: the request stores the notification and its audience, and a worker stores the
receivers' rows, a range of ids in each transaction.

The end of the range is stored in the transaction of its rows. If a worker is killed within a range,
the next worker begins with this range.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Row, delete, select, update

from ..accounts.service import Accounts
from ..core.db.account_ids import IdKind, serialize_id
from ..core.db.transaction import (
    AnySession,
    after_commit,
    execute_bulk,
    extended_timeout,
    insert_new,
    lock_row,
    transaction,
)
from ..core.queue import LeasedQueue
from ..delivery.outbox.enqueue import Outbox
from ..delivery.outbox.models import SKIPPED
from ..delivery.worker.jobs import Interrupted, Job, JobRunner
from ..notifications.models import EXPAND_BROADCASTS, EXPANDING, GIVEN_UP, Expansion, Notification
from ..notifications.receivers import AccountRange, Audience, Receivers
from .counts import NotificationCounter

# The receivers of one transaction, which takes some tenths of a second.
RANGE_SIZE = 5_000

_COLUMNS = (
    Expansion.notification_id,
    Expansion.audience,
    Expansion.channels,
    Expansion.outgoing_id,
    Expansion.last_id,
    Expansion.last_created_at,
)


@dataclass(eq=False)
class Expansions:
    session: AnySession
    accounts: Accounts
    ids: IdKind
    outbox: Outbox
    queue: LeasedQueue
    counter: NotificationCounter

    def retry(self, notification_id: int | None = None) -> int:
        """Retry the failed expansions and return their number."""
        given_up = (
            update(Expansion)
            .where(Expansion.state == GIVEN_UP)
            .values(state=EXPANDING, attempts=0, due_at=self.counter.clock.now())
        )
        if notification_id is not None:
            given_up = given_up.where(Expansion.notification_id == notification_id)
        with transaction(self.session) as session:
            count = int(execute_bulk(session, given_up).rowcount)
            if count:
                after_commit(session, self._wake)
            return count

    def stop(self, notification_id: int, *, is_sending: bool) -> bool:
        """End the expansion of a broadcast. The caller has locked its row, as workers do for each
        range, and mark the broadcast as stopped. Return False if it is stopped or nothing is left
        to send."""
        unfinished = (
            update(Expansion)
            .where(Expansion.notification_id == notification_id, Expansion.state != SKIPPED)
            .values(state=SKIPPED)
        )
        if execute_bulk(self.session, unfinished).rowcount:
            return True
        now, stored = self.counter.clock.now(), select(Notification.receivers)
        stored = stored.where(Notification.id == notification_id)
        mark = {"notification_id": notification_id, "state": SKIPPED, "due_at": now}
        mark |= {"audience": {}, "channels": [], "created_at": now}
        mark |= {"stored": stored.scalar_subquery()}
        return is_sending and insert_new(self.session, Expansion, **mark) is not None

    def find(self, notification_id: int) -> Row[str, int] | None:
        """Return the state and the number of stored inbox rows, unless all rows are stored."""
        columns = select(Expansion.state, Expansion.stored)
        found = columns.where(Expansion.notification_id == notification_id)
        return self.session.execute(found).one_or_none()

    def runner(self) -> JobRunner:
        return JobRunner(
            self.queue,
            "Expansion",
            _COLUMNS,
            Expansion.attempts,
            self._expand,
            lambda job: self.queue.finish(job.claim, job.row.id, state=GIVEN_UP),
        )

    def _wake(self) -> None:
        self.outbox.workers.wake([EXPAND_BROADCASTS])

    def _expand(self, job: Job, check_running: Callable[[], None]) -> None:
        receivers = self._receivers(job.row)
        check_running()
        while self._store_range(job, receivers):
            check_running()

    def _receivers(self, row: Row[Any]) -> Receivers:
        return Receivers(
            self.session,
            self.accounts,
            Audience.from_json(row.audience, self.ids),
            AccountRange(until=row.last_id, created_until=row.last_created_at),
        )

    def _store_range(self, job: Job, receivers: Receivers) -> bool:
        """Store the rows of the next range and return whether it exists."""
        session, row = self.session, job.row
        with transaction(session), extended_timeout(session):
            # Lock the notification before the expansion, in the order in which a deletion locks
            # them.
            lock_row(session, Notification, Notification.id == row.notification_id)
            progress = self._progress(job)
            part, position = self._next_range(receivers, progress.position)
            if part is None:
                self._finish(row, progress.stored)
                return False
            stored = part.fill_inbox(row.notification_id)
            if row.outgoing_id is not None:
                targets = part.targets(row.notification_id)
                self.outbox.add_targets(row.outgoing_id, targets, row.channels)
            execute_bulk(
                session,
                update(Expansion)
                .where(Expansion.id == row.id)
                .values(position=position, stored=progress.stored + stored),
            )
            return True

    def _progress(self, job: Job) -> Row[Any]:
        """Return the position of the expansion. Raise Interrupted if another worker has claimed it
        or if it was deleted with its notification."""
        # Progress resets the number of attempts, which killed workers have increased.
        claimed = self.queue.claimed(job.claim, [job.row.id]).values(attempts=1)
        claimed = claimed.returning(Expansion.position, Expansion.stored)
        progress = execute_bulk(self.session, claimed).one_or_none()
        if progress is None:
            raise Interrupted
        return progress

    def _next_range(
        self, receivers: Receivers, position: str | None
    ) -> tuple[Receivers | None, str | None]:
        """Return the range after a position, and the position of its end."""
        audience = receivers.audience
        if audience.ids is not None:
            begin = int(position or 0)
            ids = audience.ids[begin : begin + RANGE_SIZE]
            part = replace(receivers, audience=replace(audience, ids=ids)) if ids else None
            return part, str(begin + len(ids))
        after = None if position is None else self.ids.from_text(position)
        within = replace(receivers.within or AccountRange(), after=after)
        end = replace(receivers, within=within).end_of_range(RANGE_SIZE)
        if end is None:
            return None, position
        return replace(receivers, within=replace(within, until=end)), str(serialize_id(end))

    def _finish(self, row: Row[Any], stored: int) -> None:
        """End the expansion, which has stored so many inbox rows."""
        execute_bulk(self.session, delete(Expansion).where(Expansion.id == row.id))
        execute_bulk(
            self.session,
            update(Notification)
            .where(Notification.id == row.notification_id)
            .values(receivers=stored),
        )
        # The counts include the receivers without an address, which the sender could not know.
        self.counter.recount(row.notification_id)
