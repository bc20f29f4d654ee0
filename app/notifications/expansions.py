"""Large broadcasts: the request stores the notification and its audience, and a worker stores the
receivers' rows, a range of ids in each transaction.

The end of the range is stored in the transaction of its rows. A worker that is killed loses the
range in its hands, and the next worker begins with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Row, delete, func, select, update

from ..core.clock import Clock
from ..core.db.account_ids import IdKind, IntegerIds, serialize_id
from ..core.db.transaction import AnySession, after_commit, extended_timeout, lock_row, transaction
from ..core.queue import LeasedQueue
from ..core.types import AccountModel
from ..delivery.message import NewMessage, Subject
from ..delivery.outbox.enqueue import CountsByChannel, Outbox
from ..delivery.outbox.models import PENDING, STATES
from ..delivery.worker.jobs import Interrupted, Job, JobRunner
from .counts import LastCounted, NotificationCounter
from .models import EXPANDING, GIVEN_UP, SUBJECT, Expansion, Notification
from .receivers import Audience, Receivers

# No channel has such a name: a host's are words.
CHORE = "frontdesk broadcasts"
# The receivers of one transaction: some tenths of a second.
RANGE = 5_000

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
    account_model: AccountModel
    ids: IdKind
    outbox: Outbox
    clock: Clock

    def add(
        self,
        notification: Notification,
        receivers: Receivers,
        message: NewMessage,
        channels: Iterable[str],
    ) -> CountsByChannel:
        """Leave the receivers' rows to a worker; returns the deliveries as they will be stored."""
        count = notification.receivers
        subject = Subject(SUBJECT, notification.id)
        outgoing_id, names = self.outbox.put_message(message, channels, subject) or (None, [])
        newest = select(func.max(self.account_model.id))
        expansion = Expansion(
            notification_id=notification.id,
            audience=receivers.audience.to_json(),
            channels=names,
            outgoing_id=outgoing_id,
            last_id=self.session.scalar(newest) if isinstance(self.ids, IntegerIds) else None,
            last_created_at=receivers.last_created_at(),
            due_at=notification.created_at,
            created_at=notification.created_at,
        )
        self.session.add(expansion)
        self.session.flush()
        after_commit(self.session, self._wake)
        return {name: dict.fromkeys(STATES, 0) | {PENDING: count} for name in names}

    def retry(self, notification_id: int | None = None) -> int:
        """Have the expansions that were given up tried again; returns how many there are."""
        given_up = (
            update(Expansion)
            .where(Expansion.state == GIVEN_UP)
            .values(state=EXPANDING, attempts=0, due_at=self.clock.now())
        )
        if notification_id is not None:
            given_up = given_up.where(Expansion.notification_id == notification_id)
        with transaction(self.session):
            done: Any = self.session.execute(
                given_up, execution_options={"synchronize_session": False}
            )
            if done.rowcount:
                after_commit(self.session, self._wake)
            return int(done.rowcount)

    def _wake(self) -> None:
        self.outbox.workers.wake([CHORE])


@dataclass(eq=False)
class Expander:
    """The worker's part."""

    expansions: Expansions
    queue: LeasedQueue
    counter: NotificationCounter

    def runner(self) -> JobRunner:
        return JobRunner(
            self.queue,
            "Expansion",
            _COLUMNS,
            Expansion.attempts,
            self._expand,
            lambda job: self.queue.finish(job.claim, job.row.id, state=GIVEN_UP),
        )

    def _expand(self, job: Job, go_on: Callable[[], None]) -> None:
        everyone = self._receivers(job.row)
        go_on()
        while self._store_range(job, everyone):
            go_on()

    def _receivers(self, row: Row[Any]) -> Receivers:
        return Receivers(
            self.expansions.session,
            self.expansions.account_model,
            Audience.from_json(row.audience, self.expansions.ids),
            is_range=True,
            until=row.last_id,
            created_by=row.last_created_at,
        )

    def _store_range(self, job: Job, everyone: Receivers) -> bool:
        """Store the rows of the next range; returns whether there was one."""
        session, row = self.expansions.session, job.row
        with transaction(session), extended_timeout(session):
            # Lock the notification before the expansion, in the order in which a deletion locks
            # them.
            lock_row(session, Notification, Notification.id == row.notification_id)
            progress = self._progress(job)
            part, position = self._next_range(everyone, progress.position)
            if part is None:
                self._finish(row, progress.stored)
                return False
            stored = part.fill_inbox(row.notification_id)
            if row.outgoing_id is not None:
                targets = part.targets(row.notification_id)
                self.expansions.outbox.add_targets(row.outgoing_id, targets, row.channels)
            self._run(
                update(Expansion)
                .where(Expansion.id == row.id)
                .values(position=position, stored=progress.stored + stored)
            )
            return True

    def _progress(self, job: Job) -> Row[Any]:
        """How far the expansion is; raises Interrupted where it is no longer this worker's, or was
        deleted with its notification."""
        # A worker that gets on counts as its first attempt, however many were killed before.
        claimed = self.queue.claimed(job.claim, [job.row.id]).values(attempts=1)
        progress = self._run(claimed.returning(Expansion.position, Expansion.stored)).one_or_none()
        if progress is None:
            raise Interrupted
        return progress  # type: ignore[no-any-return]

    def _next_range(
        self, everyone: Receivers, position: str | None
    ) -> tuple[Receivers | None, str | None]:
        """The range after a position, and the position of its end."""
        audience = everyone.audience
        if audience.ids is not None:
            begin = int(position or 0)
            ids = audience.ids[begin : begin + RANGE]
            part = replace(everyone, audience=replace(audience, ids=ids)) if ids else None
            return part, str(begin + len(ids))
        after = None if position is None else self.expansions.ids.from_text(position)
        rest = replace(everyone, after=after)
        end = rest.end_of_range(RANGE)
        return (
            (None, position) if end is None else (replace(rest, until=end), str(serialize_id(end)))
        )

    def _finish(self, row: Row[Any], stored: int) -> None:
        self._run(delete(Expansion).where(Expansion.id == row.id))
        self._run(
            update(Notification)
            .where(Notification.id == row.notification_id)
            .values(receivers=stored)
        )
        # With the receivers that a channel does not reach, which the sender could not know.
        self.counter.now(LastCounted(row.notification_id, stored, None, None))

    def _run(self, statement: Any) -> Any:
        # No object of the session is concerned.
        return self.expansions.session.execute(
            statement, execution_options={"synchronize_session": False}
        )
