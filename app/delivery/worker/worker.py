"""Sends due deliveries in batches and runs background tasks, for the thread, Celery and the CLI."""

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, NamedTuple, Protocol

from sqlalchemy import Engine, Select

from ...core.clock import Clock
from ...core.db.base import autocommit_engine
from ..channel import Channel, Channels, RecipientChoices
from ..errors import SwitchedOff, Unreachable
from ..outbox.batches import Batches
from ..outbox.models import FAILED, SKIPPED
from ..personal import FieldReader
from .batch import BatchRun, jittered
from .lease import Lease, retry_until_written

log = logging.getLogger(__name__)

BATCH_SIZE = 100
CLAIMED_PAUSE = 0.05
SHORTEST_PAUSE, LONGEST_PAUSE = 1.0, 15.0


class BackgroundTask(Protocol):
    """Work of another kind that the worker does, such as data exports."""

    def seconds_until_due(self) -> float | None:
        """Return the seconds until work is due, negative if it is late; None without work."""

    def work(self, stopping: Callable[[], bool]) -> float | None:
        """Do a part of the work and return the seconds until the next part; None without work."""


class BackgroundWork(NamedTuple):
    """A task that a feature contributes to the worker."""

    # A name that no channel has.
    name: str
    # Called once, when the worker begins: a task may use services that need the worker.
    make_task: Callable[[], BackgroundTask]


@dataclass(eq=False)
class Worker:
    batches: Batches
    channels: Channels
    clock: Clock
    works: Sequence[BackgroundWork]
    # Reads the personal fields of recipients.
    fields: FieldReader
    choices: RecipientChoices
    # How long each channel waits for a server that is away.
    _pauses: dict[str, float] = field(default_factory=dict, init=False)

    @cached_property
    def tasks(self) -> Mapping[str, BackgroundTask]:
        return {work.name: work.make_task() for work in self.works}

    def names(self) -> list[str]:
        # A task may store deliveries, so tasks run before channels.
        return [*self.tasks, *self.channels.names()]

    def seconds_until_due(self, name: str) -> float | None:
        if (task := self.tasks.get(name)) is not None:
            return task.seconds_until_due()
        return self.batches.seconds_until_due(name)

    def drain(self, names: Iterable[str] | None = None) -> None:
        """Do the work that is due now, for these tasks and channels or for all."""
        for name in self.names() if names is None else names:
            while self.work(name) == 0.0:
                pass

    def work(
        self,
        name: str,
        *,
        stopping: Callable[[], bool] = lambda: False,
        on_full: Callable[[], object] = lambda: None,
    ) -> float | None:
        """Send one batch and return the seconds until the next; None without pending deliveries.

        `on_full` is called after the connection to the server is open if the batch is full:
        another worker can begin with the next batch.
        """
        if (task := self.tasks.get(name)) is not None:
            return task.work(stopping)
        # Most sweeps find nothing due, and this query costs less than an attempt to claim.
        wait = self.batches.seconds_until_due(name)
        if wait is None or wait > 0:
            return wait
        batch = self.batches.claim(name, BATCH_SIZE)
        if batch is None:
            # Another worker is claiming the deliveries at this moment.
            time.sleep(CLAIMED_PAUSE)
            return 0.0
        on_start = on_full if len(batch.deliveries) == BATCH_SIZE else lambda: None
        run = BatchRun(self.batches, batch, name, self.clock.now(), self.fields, self.choices)
        with Lease(lambda: self.batches.renew(batch)) as lease:
            pause = self._deliver(run, on_start, lambda: lease.is_valid and not stopping())
        self.batches.drop_finished({delivery.message.id for delivery in batch.deliveries})
        return pause

    def _deliver(
        self, run: BatchRun, on_start: Callable[[], object], may_continue: Callable[[], bool]
    ) -> float:
        try:
            run.send(self._enabled_channel(run.name), on_start, may_continue)
        except SwitchedOff as error:
            for delivery in run.remaining:
                run.settle(delivery, SKIPPED, reason=error.reason)
        except Unreachable as error:
            return self._wait(run, error.reason)
        else:
            retry_until_written(lambda: self.batches.give_back(run.batch, run.remaining))
        self._pauses.pop(run.name, None)
        return 0.0

    def _enabled_channel(self, name: str) -> Channel:
        channel = self.channels.get(name)
        if channel is None:
            raise SwitchedOff("This channel has no handler any more")
        if (reason := channel.disabled_reason()) is not None:
            raise SwitchedOff(reason)
        return channel

    def _wait(self, run: BatchRun, reason: str) -> float:
        """Release the deliveries while the server is away, without counting an attempt."""
        pause = min(LONGEST_PAUSE, self._pauses.get(run.name, SHORTEST_PAUSE / 2) * 2)
        self._pauses[run.name] = pause
        log.warning("The channel %s waits for %.0f s: %s", run.name, pause, reason)
        rest = []
        for delivery in run.remaining:
            if run.is_too_old(delivery):
                run.settle(delivery, FAILED, reason=reason)
            else:
                rest.append(delivery)
        retry_until_written(
            lambda: self.batches.give_back(run.batch, rest, jittered(pause), reason)
        )
        return pause


# How often the worker looks for due rows, and repeats work that failed.
PAUSE_SECONDS = 60.0


@dataclass(eq=False)
class DueRows:
    # Selects when the first row is due.
    first: Select[Any]
    work_on_due: Callable[[], object]
    engine: Engine
    clock: Clock
    _next_at: datetime | None = field(default=None, init=False)

    def seconds_until_due(self) -> float | None:
        with autocommit_engine(self.engine).connect() as connection:
            due = connection.execute(self.first).scalar()
        return None if due is None else (due - self.clock.now()).total_seconds()

    def work(self, stopping: Callable[[], bool]) -> float | None:
        now = self.clock.now()
        if self._next_at is None or self._next_at <= now:
            self._next_at = now + timedelta(seconds=PAUSE_SECONDS)
            wait = self.seconds_until_due()
            if wait is not None and wait <= 0:
                self.work_on_due()
        return PAUSE_SECONDS
