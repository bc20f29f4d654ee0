"""Sends the due deliveries of a channel in batches, for the thread, Celery and the CLI."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

from ...core.clock import Clock
from ..channel import Channel, Channels
from ..errors import SwitchedOff, Unreachable
from ..outbox.batches import Batches
from ..outbox.models import FAILED, SKIPPED
from .batch import BatchRun, jittered
from .lease import Lease, insist

log = logging.getLogger(__name__)

BATCH_SIZE = 100
TAKEN_PAUSE = 0.05
SHORTEST_PAUSE, LONGEST_PAUSE = 1.0, 15.0


class BackgroundTask(Protocol):
    """Work of another kind that is done behind the requests, by whatever drives the worker."""

    def seconds_until_due(self) -> float | None:
        """Negative when it is late; None: nothing waits."""

    def work(self, stopping: Callable[[], bool]) -> float | None:
        """Do a part of it. Says in how many seconds there is more to do, None: nothing waits."""


@dataclass(eq=False)
class Worker:
    batches: Batches
    channels: Channels
    clock: Clock
    # By names that no channel has.
    chores: dict[str, BackgroundTask] = field(default_factory=dict, init=False)
    # How long each channel waits for a server that is away.
    _pauses: dict[str, float] = field(default_factory=dict, init=False)

    def names(self) -> list[str]:
        """What there may be work under: the chores, which may store deliveries; the channels."""
        return [*self.chores, *self.channels.names()]

    def seconds_until_due(self, name: str) -> float | None:
        if (chore := self.chores.get(name)) is not None:
            return chore.seconds_until_due()
        return self.batches.seconds_until_due(name)

    def drain(self, names: Iterable[str] | None = None) -> None:
        """Do all that is due now, under these names or all; what has to wait is left."""
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
        """Send one batch. Says in how many seconds there is more to do, None: nothing waits.

        `on_full` is told when there may be more than this batch, as soon as the server answers:
        another worker can begin with the next.
        """
        if (chore := self.chores.get(name)) is not None:
            return chore.work(stopping)
        # Asked first: it is what most sweeps end with, and costs less than an attempt to claim.
        wait = self.batches.seconds_until_due(name)
        if wait is None or wait > 0:
            return wait
        batch = self.batches.claim(name, BATCH_SIZE)
        if batch is None:
            # Others are claiming it at this moment; whether they leave any is asked again.
            time.sleep(TAKEN_PAUSE)
            return 0.0
        begun = on_full if len(batch.deliveries) == BATCH_SIZE else lambda: None
        run = BatchRun(self.batches, batch, name, self.clock.now())
        with Lease(lambda: self.batches.renew(batch)) as lease:
            pause = self._deliver(run, begun, lambda: lease.holds and not stopping())
        self.batches.drop_finished({each.message.id for each in batch.deliveries})
        return pause

    def _deliver(
        self, run: BatchRun, begun: Callable[[], object], go_on: Callable[[], bool]
    ) -> float:
        try:
            run.work(self._able(run.name), begun, go_on)
        except SwitchedOff as error:
            for delivery in run.waiting:
                run.settle(delivery, SKIPPED, reason=error.reason)
        except Unreachable as error:
            return self._wait(run, error.reason)
        else:
            insist(lambda: self.batches.give_back(run.batch, run.waiting))
        self._pauses.pop(run.name, None)
        return 0.0

    def _able(self, name: str) -> Channel:
        channel = self.channels.get(name)
        if channel is None:
            raise SwitchedOff("Nothing handles this channel any more")
        if (why := channel.off()) is not None:
            raise SwitchedOff(why)
        return channel

    def _wait(self, run: BatchRun, reason: str) -> float:
        """Nothing can be sent just now: all of them wait, and no attempt is counted."""
        pause = min(LONGEST_PAUSE, self._pauses.get(run.name, SHORTEST_PAUSE / 2) * 2)
        self._pauses[run.name] = pause
        log.warning("The channel %s waits for %.0f s: %s", run.name, pause, reason)
        rest = []
        for delivery in run.waiting:
            if run.waited_too_long(delivery):
                run.settle(delivery, FAILED, reason=reason)
            else:
                rest.append(delivery)
        insist(lambda: self.batches.give_back(run.batch, rest, jittered(pause), reason))
        return pause
