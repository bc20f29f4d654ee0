"""What workers do with the rows of the leased queue (core/queue.py): claimed in batches, a channel
and a lane at a time, and each settled by itself by the one statement that runs for every message.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from sqlalchemy import (
    Engine,
    bindparam,
    delete,
    func,
    literal_column,
    select,
    text,
    update,
)
from sqlalchemy.engine import Compiled
from sqlalchemy.sql import Executable

from ...core.clock import Clock
from ...core.db.base import AUTOCOMMIT
from ...core.db.rows import Rows, ask
from ...core.queue import LeasedQueue
from ...core.types import AccountKey, Values
from ..message import StoredMessage
from .messages import stored_messages
from .models import FAILED, LANES, PENDING, REASON_LENGTH, Delivery, OutgoingMessage


class ClaimedDelivery(NamedTuple):
    """One in a worker's hands."""

    id: int
    attempts: int
    receiver_id: AccountKey
    message: StoredMessage


class Batch(NamedTuple):
    # Names the worker that has it.
    claim: str
    deliveries: Sequence[ClaimedDelivery]


_TAKEN = (Delivery.outgoing_id, Delivery.receiver_id, Delivery.attempts)

# Written out: it is the same every time, and each value costs its time.
_WAITS = Delivery.state == literal_column(f"'{PENDING}'")

_SETTLE = (
    update(Delivery)
    .where(Delivery.id == bindparam("delivery_id"), Delivery.claim == bindparam("by"), _WAITS)
    .values(
        state=bindparam("new_state"),
        reason=bindparam("why"),
        reference=bindparam("known_as"),
        finished_at=bindparam("moment"),
    )
    .returning(Delivery.id)
)

# When the first delivery of a channel is due: of each lane by itself, which the index answers
# without a look at the others that wait.
_CHANNEL: Any = bindparam("channel")
_FIRSTS: Any = select(
    *(
        select(func.min(Delivery.due_at))
        .where(Delivery.channel == _CHANNEL, Delivery.lane == literal_column(str(lane)), _WAITS)
        .scalar_subquery()
        for lane in LANES
    )
)


class Batches:
    def __init__(self, engine: Engine, clock: Clock) -> None:
        self._commits = bool(engine.get_execution_options().get(AUTOCOMMIT))
        self._queue = LeasedQueue(engine, clock, Delivery, _WAITS)
        self._engine = self._queue.engine
        self._clock = clock
        self._firsts = Rows(_FIRSTS)
        self._postgres = engine.dialect.name == "postgresql"
        self._settle = _SETTLE
        if self._postgres:
            # A worker that is killed loses nothing by this, only a server that is: and then a
            # mail of its last half second is sent twice. Waiting for the disk each time costs more
            # than the mail.
            relaxed = "(SELECT set_config('synchronous_commit', 'off', true)) = 'off'"
            self._settle = _SETTLE.where(text(relaxed))

    @cached_property
    def _plain(self) -> Compiled | None:
        """The statement as text, compiled at the first sweep and not at a start; None where the
        engine does not commit by itself."""
        return self._settle.compile(dialect=self._engine.dialect) if self._commits else None

    def claim(self, channel: str, most: int) -> Batch | None:
        """Claim due deliveries: no other worker claims them before the lease ends."""
        token = secrets.token_hex(16)
        taken: list[Any] = []
        with self._engine.connect() as connection:
            for lane in LANES:
                if len(taken) < most:
                    here = (Delivery.channel == channel, Delivery.lane == lane)
                    rows = self._queue.take(connection, token, most - len(taken), _TAKEN, *here)
                    # The quick lane stays before the other within the batch too.
                    taken += sorted(rows, key=lambda row: row.id)
            if not taken:
                return None
            messages = stored_messages(connection, {row.outgoing_id for row in taken})
        deliveries = [
            ClaimedDelivery(row.id, row.attempts, row.receiver_id, messages[row.outgoing_id])
            for row in taken
            if row.outgoing_id in messages
        ]
        return Batch(token, deliveries)

    def settle(
        self,
        batch: Batch,
        delivery: ClaimedDelivery,
        state: str,
        *,
        reason: str | None = None,
        reference: str | None = None,
    ) -> None:
        values = {
            "delivery_id": delivery.id,
            "by": batch.claim,
            "new_state": state,
            "why": _storable(reason),
            "known_as": _storable(reference),
            "moment": self._clock.now(),
        }
        if self._plain is not None:
            # Once for each email: straight to the driver, without SQLAlchemy.
            ask(self._engine, str(self._plain), {**self._plain.params, **values})
        else:
            self._run(self._settle, values)

    def postpone(
        self, batch: Batch, delivery: ClaimedDelivery, seconds: float, reason: str
    ) -> None:
        """Try this one again later; the attempt counts."""
        self._queue.postpone(batch.claim, [delivery.id], seconds, reason=_storable(reason))

    def give_back(
        self,
        batch: Batch,
        deliveries: Sequence[ClaimedDelivery],
        seconds: float = 0.0,
        reason: str | None = None,
    ) -> None:
        """These were not tried at all: the attempt is taken back."""
        if deliveries:
            why = {} if reason is None else {"reason": _storable(reason)}
            self._queue.give_back(batch.claim, _ids(deliveries), seconds, **why)

    def renew(self, batch: Batch) -> None:
        self._queue.renew(batch.claim, _ids(batch.deliveries))

    def drop_finished(self, message_ids: Iterable[int]) -> None:
        """A message about nothing is kept only for as long as it has to be sent."""
        unfinished = (
            select(Delivery.id)
            .where(
                Delivery.outgoing_id == OutgoingMessage.id, Delivery.state.in_((PENDING, FAILED))
            )
            .exists()
        )
        self._run(
            delete(OutgoingMessage).where(
                OutgoingMessage.id.in_(list(message_ids)),
                OutgoingMessage.subject_kind.is_(None),
                ~unfinished,
            )
        )

    def seconds_until_due(self, channel: str) -> float | None:
        """Until the next is due, negative when it is late; None when nothing waits."""
        (firsts,) = self._firsts.read_from(self._engine, channel=channel)
        found = [moment for moment in firsts if moment]
        return (min(found) - self._clock.now()).total_seconds() if found else None

    def _run(self, statement: Executable, values: Values | None = None) -> int:
        with self._engine.connect() as connection:
            return int(connection.execute(statement, values or {}).rowcount)


def _ids(deliveries: Sequence[ClaimedDelivery]) -> list[int]:
    return [each.id for each in deliveries]


def _storable(text: str | None) -> str | None:
    """What a server says goes into a column: no NUL, no more than fits."""
    if text is None:
        return None
    return text.replace("\0", " ").encode("utf-8", "replace").decode()[:REASON_LENGTH]
