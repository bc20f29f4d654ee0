"""Runs one job of a leased queue at a time, and retries it: exports, expansions of broadcasts."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Row

from ...core.queue import Claim, LeasedQueue
from .batch import jittered
from .lease import Lease, insist
from .worker import TAKEN_PAUSE

log = logging.getLogger(__name__)

MOST_ATTEMPTS = 4
FIRST_RETRY = 20.0


class Interrupted(Exception):
    """The process ends, or was stopped for so long that another worker may have the job."""


class Job(NamedTuple):
    claim: str
    row: Row[Any]


@dataclass(eq=False)
class JobRunner:
    """A chore of the worker."""

    queue: LeasedQueue
    # As the log names it: "Export".
    name: str
    # What `perform` reads of the row, `id` and `attempts` apart.
    columns: Sequence[Any]
    attempts: Any
    # Does the job, finishes it in the queue, and calls the second argument now and then, which
    # raises Interrupted.
    perform: Callable[[Job, Callable[[], None]], None]
    # Called with a job that is not tried again.
    give_up: Callable[[Job], object]

    def seconds_until_due(self) -> float | None:
        return self.queue.seconds_until_due()

    def work(self, stopping: Callable[[], bool]) -> float | None:
        wait = self.queue.seconds_until_due()
        if wait is None or wait > 0:
            return wait
        claim = self.queue.claim(1, self.attempts, *self.columns)
        if claim is None:
            # Another worker is claiming it at this moment.
            time.sleep(TAKEN_PAUSE)
            return 0.0
        job = _job_of(claim)
        if job.row.attempts > MOST_ATTEMPTS:
            self._give_up(job, "no worker that had it came to its end")
        else:
            self._attempt(job, stopping)
        return 0.0

    def _attempt(self, job: Job, stopping: Callable[[], bool]) -> None:
        ids = [job.row.id]
        with Lease(lambda: self.queue.renew(job.claim, ids)) as lease:

            def go_on() -> None:
                if stopping() or not lease.holds:
                    raise Interrupted

            try:
                self.perform(job, go_on)
            except Interrupted:
                insist(lambda: self.queue.give_back(job.claim, ids))
            except Exception as error:
                self._try_later(job, error)

    def _try_later(self, job: Job, error: Exception) -> None:
        attempts = job.row.attempts
        if attempts >= MOST_ATTEMPTS:
            self._give_up(job, type(error).__name__, error)
            return
        seconds = jittered(FIRST_RETRY * 3 ** (attempts - 1))
        message = "%s %s failed and is tried again in %.0f s"
        log.warning(message, self.name, job.row.id, seconds, exc_info=error)
        insist(lambda: self.queue.postpone(job.claim, [job.row.id], seconds))

    def _give_up(self, job: Job, reason: str, error: Exception | None = None) -> None:
        log.error("%s %s is given up: %s", self.name, job.row.id, reason, exc_info=error)
        insist(lambda: self.give_up(job))


def _job_of(claim: Claim) -> Job:
    [row] = claim.rows
    return Job(claim.token, row)
