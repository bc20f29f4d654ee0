"""Sends what is due on a channel, one batch at a time. The same for a thread, Celery, the CLI."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

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


@dataclass(eq=False)
class Worker:
    batches: Batches
    channels: Channels
    clock: Clock
    # How long each channel waits for a server that is away.
    _pauses: dict[str, float] = field(default_factory=dict, init=False)

    def drain(self, names: Iterable[str] | None = None) -> None:
        """Send all that is due now, on these channels or all; what has to wait is left."""
        for name in self.channels.names() if names is None else names:
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
        with Lease(self.batches, batch) as lease:
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
