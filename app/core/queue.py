"""A queue of leased jobs: one worker at a time claims a row, which is due again if the worker dies.

A table of jobs has the columns `id`, `due_at`, `claim` and `attempts`. A lease is a time in
`due_at`: a running worker extends it, and the rows of a dead worker become due when it passes.
Each call is a short transaction on a separate connection.
"""

import secrets
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Engine, Row, Update, func, select, update
from sqlalchemy.sql import Executable

from .clock import Clock
from .db.base import autocommit_engine
from .types import AccountModel

# With 5 s between the sweeps of Celery workers and a busy machine, the rows of a dead worker are
# claimed again within 30 seconds.
LEASE = timedelta(seconds=20)
# A job that is due for longer has no worker.
LONGEST_WAIT = timedelta(minutes=5)


class Claim(NamedTuple):
    # Identifies the worker.
    token: str
    rows: Sequence[Row[Any]]


class LeasedQueue:
    def __init__(
        self, engine: Engine, clock: Clock, model: AccountModel, waiting: ColumnElement[bool]
    ) -> None:
        """`waiting` is the condition of the partial index on jobs that are not finished."""
        self.engine = autocommit_engine(engine)
        self._clock = clock
        self._model = model
        self._waiting = waiting

    def seconds_until_due(self) -> float | None:
        """Return the seconds until the next job is due, negative if late; None without a job."""
        first = select(func.min(self._model.due_at)).where(self._waiting)
        with self.engine.connect() as connection:
            due = connection.execute(first).scalar()
        return None if due is None else (due - self._clock.now()).total_seconds()

    def claim(self, limit: int, *columns: object) -> Claim | None:
        """Claim due jobs: no other worker claims them before the lease ends."""
        token = secrets.token_hex(16)
        with self.engine.connect() as connection:
            rows = self.take(connection, token, limit, columns)
        return Claim(token, rows) if rows else None

    def take(
        self,
        connection: Connection,
        token: str,
        limit: int,
        columns: Sequence[Any],
        *where: ColumnElement[bool],
    ) -> Sequence[Row[Any]]:
        """Claim due jobs that meet the conditions, with one statement."""
        model, now = self._model, self._clock.now()
        due = (
            select(model.id)
            .where(*where, self._waiting, model.due_at <= now)
            .order_by(model.due_at, model.id)
            .limit(limit)
        )
        if connection.dialect.name == "postgresql":
            due = due.with_for_update(skip_locked=True)
        # SQLite has one writer, so it needs no lock.
        chosen = due.cte("chosen")
        taken = (
            update(model)
            .where(model.id.in_(select(chosen.c.id)))
            .values(claim=token, due_at=now + LEASE, attempts=model.attempts + 1)
            .returning(model.id, *columns)
        )
        return connection.execute(taken).all()

    def renew(self, token: str, ids: Sequence[int]) -> None:
        self._run(self.claimed(token, ids).values(due_at=self._clock.now() + LEASE))

    def postpone(self, token: str, ids: Sequence[int], seconds: float, **values: object) -> None:
        """Release the jobs and retry them later; the attempt counts."""
        due = self._clock.now() + timedelta(seconds=seconds)
        self._run(self.claimed(token, ids).values(due_at=due, claim=None, **values))

    def give_back(
        self, token: str, ids: Sequence[int], seconds: float = 0.0, **values: object
    ) -> None:
        """Return the jobs to the queue without counting the attempt."""
        attempts = self._model.attempts - 1
        self.postpone(token, ids, seconds, attempts=attempts, **values)

    def finish(self, token: str, row_id: int, **values: object) -> bool:
        """Finish a job; return False if its row was deleted or another worker has claimed it."""
        return self._run(self.claimed(token, [row_id]).values(values)) == 1

    def claimed(self, token: str, ids: Sequence[int]) -> Update:
        """Return an UPDATE of the jobs that this worker still holds: a lease can expire."""
        model = self._model
        return update(model).where(model.id.in_(ids), model.claim == token, self._waiting)

    def _run(self, statement: Executable) -> int:
        with self.engine.connect() as connection:
            return int(connection.execute(statement).rowcount)
