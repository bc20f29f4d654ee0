"""The deliveries in the leased queue (core/queue.py).

Workers claim them in batches, by channel and lane, and settle each with a separate statement.
"""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import orjson
from sqlalchemy import (
    Connection,
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
from ..message import StoredMessage, Subject
from .models import FAILED, LANES, PENDING, REASON_LENGTH, Delivery, OutgoingMessage, released


class ClaimedDelivery(NamedTuple):
    id: int
    attempts: int
    receiver_id: AccountKey
    message: StoredMessage


class Batch(NamedTuple):
    # The token of the worker that has claimed the delivery.
    claim: str
    deliveries: Sequence[ClaimedDelivery]


_MESSAGE_COLUMNS = (
    *("id", "title", "message", "created_at", "template_file", "context", "is_personal"),
    *("url", "kind", "data", "email_if_unread_at", "subject_kind", "subject_id"),
)
_CLAIMED_COLUMNS = (Delivery.outgoing_id, Delivery.receiver_id, Delivery.attempts)

# A literal, because each bound value costs time.
_IS_PENDING = Delivery.state == literal_column(f"'{PENDING}'")

_SETTLE = (
    update(Delivery)
    .where(Delivery.id == bindparam("delivery_id"), Delivery.claim == bindparam("by"), _IS_PENDING)
    .values(
        state=bindparam("new_state"),
        reason=bindparam("why"),
        reference=bindparam("known_as"),
        finished_at=bindparam("moment"),
    )
    .returning(Delivery.id)
)

# When the first delivery of each lane is due: a query by lane reads one entry of the index.
_CHANNEL: Any = bindparam("channel")
_FIRST_DUE: Any = select(
    *(
        select(func.min(Delivery.due_at))
        .where(
            Delivery.channel == _CHANNEL, Delivery.lane == literal_column(str(lane)), _IS_PENDING
        )
        .scalar_subquery()
        for lane in LANES
    )
)


class Batches:
    def __init__(self, engine: Engine, clock: Clock) -> None:
        self._commits = bool(engine.get_execution_options().get(AUTOCOMMIT))
        self._queue = LeasedQueue(engine, clock, Delivery, _IS_PENDING)
        self._engine = self._queue.engine
        self._clock = clock
        self._first_due = Rows(_FIRST_DUE)
        self._postgres = engine.dialect.name == "postgresql"
        self._settle = _SETTLE
        if self._postgres:
            # Only a crash of the database server loses commits, and then the emails of the last
            # half second are sent twice. Waiting for the disk each time costs more than sending.
            relaxed = "(SELECT set_config('synchronous_commit', 'off', true)) = 'off'"
            self._settle = _SETTLE.where(text(relaxed))

    @cached_property
    def _plain_settle(self) -> Compiled | None:
        """The compiled statement, compiled when it is first used; None if the engine does not
        commit automatically."""
        return self._settle.compile(dialect=self._engine.dialect) if self._commits else None

    def claim(self, channel: str, most: int) -> Batch | None:
        """Claim due deliveries: no other worker claims them before the lease ends."""
        token = secrets.token_hex(16)
        claimed: list[Any] = []
        with self._engine.connect() as connection:
            for lane in LANES:
                if len(claimed) < most:
                    where = (Delivery.channel == channel, Delivery.lane == lane)
                    rows = self._queue.take(
                        connection, token, most - len(claimed), _CLAIMED_COLUMNS, *where
                    )
                    # Within the batch too, the lane of small messages comes first.
                    claimed += sorted(rows, key=lambda row: row.id)
            if not claimed:
                return None
            messages = _load_messages(connection, {row.outgoing_id for row in claimed})
        deliveries = [
            ClaimedDelivery(row.id, row.attempts, row.receiver_id, messages[row.outgoing_id])
            for row in claimed
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
        if self._plain_settle is not None:
            # Executed by the driver without SQLAlchemy, since it runs for each email.
            ask(self._engine, str(self._plain_settle), {**self._plain_settle.params, **values})
        else:
            self._run(self._settle, values)

    def postpone(
        self, batch: Batch, delivery: ClaimedDelivery, seconds: float, reason: str
    ) -> None:
        """Retry the delivery later, unless it was stopped; the attempt is counted."""
        values = released(_storable(reason))
        self._queue.postpone(batch.claim, [delivery.id], seconds, **values)

    def give_back(
        self,
        batch: Batch,
        deliveries: Sequence[ClaimedDelivery],
        seconds: float = 0.0,
        reason: str | None = None,
    ) -> None:
        """Release deliveries that were not attempted; the attempt is not counted."""
        if deliveries:
            values = released(_storable(reason))
            self._queue.give_back(batch.claim, _ids(deliveries), seconds, **values)

    def renew(self, batch: Batch) -> None:
        self._queue.renew(batch.claim, _ids(batch.deliveries))

    def drop_finished(self, message_ids: Iterable[int]) -> None:
        """Delete the messages without a subject that are sent."""
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
        """Return the seconds until the next delivery is due, negative if it is late; None without
        a pending delivery."""
        (firsts,) = self._first_due.read_from(self._engine, channel=channel)
        found = [moment for moment in firsts if moment]
        return (min(found) - self._clock.now()).total_seconds() if found else None

    def _run(self, statement: Executable, values: Values | None = None) -> int:
        with self._engine.connect() as connection:
            return int(connection.execute(statement, values or {}).rowcount)


def _load_messages(connection: Connection, ids: set[int]) -> Mapping[int, StoredMessage]:
    columns = OutgoingMessage.__table__.c
    rows = connection.execute(
        select(*(columns[name] for name in _MESSAGE_COLUMNS)).where(columns.id.in_(ids))
    )
    return {
        row.id: StoredMessage(
            id=row.id,
            title=row.title,
            message=row.message,
            created_at=row.created_at,
            template_file=row.template_file,
            context=orjson.loads(row.context) if row.context else {},
            is_personal=bool(row.is_personal),
            url=row.url,
            kind=row.kind,
            data=row.data,
            email_if_unread_at=row.email_if_unread_at,
            subject=row.subject_kind and Subject(row.subject_kind, row.subject_id),
        )
        for row in rows
    }


def _ids(deliveries: Sequence[ClaimedDelivery]) -> list[int]:
    return [each.id for each in deliveries]


def _storable(text: str | None) -> str | None:
    """Return a server's text without NUL and cut to the length of the column."""
    if text is None:
        return None
    return text.replace("\0", " ").encode("utf-8", "replace").decode()[:REASON_LENGTH]
