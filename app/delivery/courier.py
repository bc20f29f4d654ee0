"""Works a channel's queue, one batch at a time. The same for a thread, a Celery worker, the CLI."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from ..core.clock import Clock
from .channel import Channel, Channels
from .errors import SwitchedOff, Unreachable
from .lease import Lease, insist
from .models import FAILED, SKIPPED
from .queue import Queue
from .round import Round, jittered

log = logging.getLogger(__name__)

BATCH = 100
# A server that is away costs nobody an attempt, and is waited for this long.
LONGEST_WAIT_DAYS = 2
TAKEN_PAUSE = 0.05
SHORTEST_PAUSE, LONGEST_PAUSE = 1.0, 15.0


class Courier:
    def __init__(self, queue: Queue, channels: Channels, clock: Clock) -> None:
        self.queue = queue
        self.channels = channels
        self._clock = clock
        self._pauses: dict[str, float] = {}

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
        wait = self.queue.seconds_until_due(name)
        if wait is None or wait > 0:
            return wait
        batch = self.queue.claim(name, BATCH)
        if batch is None:
            # Others are claiming it at this moment; whether they leave any is asked again.
            time.sleep(TAKEN_PAUSE)
            return 0.0
        begun = on_full if len(batch.items) == BATCH else lambda: None
        round_ = Round(self.queue, batch, name)
        with Lease(self.queue, batch) as lease:
            pause = self._deliver(round_, begun, lambda: lease.holds and not stopping())
        self.queue.drop_finished({item.message.id for item in batch.items})
        return pause

    def _deliver(
        self, round_: Round, begun: Callable[[], object], go_on: Callable[[], bool]
    ) -> float:
        try:
            round_.work(self._able(round_.name), begun, go_on)
        except SwitchedOff as error:
            for item in round_.waiting:
                round_.settle(item, SKIPPED, reason=error.reason)
        except Unreachable as error:
            return self._wait(round_, error.reason)
        else:
            insist(lambda: self.queue.give_back(round_.batch, round_.waiting))
        self._pauses.pop(round_.name, None)
        return 0.0

    def _able(self, name: str) -> Channel:
        channel = self.channels.get(name)
        if channel is None:
            raise SwitchedOff("Nothing handles this channel any more")
        if (why := channel.off()) is not None:
            raise SwitchedOff(why)
        return channel

    def _wait(self, round_: Round, reason: str) -> float:
        """Nothing can be sent just now: all of them wait, and no attempt is counted."""
        pause = min(LONGEST_PAUSE, self._pauses.get(round_.name, SHORTEST_PAUSE / 2) * 2)
        self._pauses[round_.name] = pause
        log.warning("The channel %s waits for %.0f s: %s", round_.name, pause, reason)
        now = self._clock.now()
        rest = []
        for item in round_.waiting:
            if (now - item.message.created_at).days >= LONGEST_WAIT_DAYS:
                round_.settle(item, FAILED, reason=reason)
            else:
                rest.append(item)
        insist(lambda: self.queue.give_back(round_.batch, rest, jittered(pause), reason))
        return pause
