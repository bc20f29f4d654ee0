"""Runs the jobs of a leased queue, one at a time, with retries: exports, expanded broadcasts."""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Row

from ...core.queue import Claim, LeasedQueue
from .batch import jittered
from .lease import Lease, retry_until_written
from .worker import CLAIMED_PAUSE

log = logging.getLogger(__name__)

MAX_ATTEMPTS = 4
FIRST_RETRY = 20.0


class Interrupted(Exception):
    """The process ends, or was paused for so long that another worker may have the job."""


class Job(NamedTuple):
    claim: str
    row: Row[Any]


@dataclass(eq=False)
class JobRunner:
    """The worker's background task for one queue."""

    queue: LeasedQueue
    # The name in the log, such as "Export".
    name: str
    # The columns that `perform` reads, next to `id` and `attempts`.
    columns: Sequence[object]
    attempts: object
    # Does the job, finishes it in the queue, and regularly calls the second argument, which can
    # raise Interrupted.
    perform: Callable[[Job, Callable[[], None]], None]
    # Called with a job that is not retried.
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
            time.sleep(CLAIMED_PAUSE)
            return 0.0
        job = _job_of(claim)
        if job.row.attempts > MAX_ATTEMPTS:
            self._give_up(job, "every worker that ran it was interrupted")
        else:
            self._attempt(job, stopping)
        return 0.0

    def _attempt(self, job: Job, stopping: Callable[[], bool]) -> None:
        ids = [job.row.id]
        with Lease(lambda: self.queue.renew(job.claim, ids)) as lease:

            def check_running() -> None:
                if stopping() or not lease.is_valid:
                    raise Interrupted

            try:
                self.perform(job, check_running)
            except Interrupted:
                retry_until_written(lambda: self.queue.give_back(job.claim, ids))
            except Exception as error:
                self._try_later(job, error)

    def _try_later(self, job: Job, error: Exception) -> None:
        attempts = job.row.attempts
        if attempts >= MAX_ATTEMPTS:
            self._give_up(job, type(error).__name__, error)
            return
        seconds = jittered(FIRST_RETRY * 3 ** (attempts - 1))
        message = "%s %s failed and is tried again in %.0f s"
        log.warning(message, self.name, job.row.id, seconds, exc_info=error)
        retry_until_written(lambda: self.queue.postpone(job.claim, [job.row.id], seconds))

    def _give_up(self, job: Job, reason: str, error: Exception | None = None) -> None:
        log.error("%s %s is given up: %s", self.name, job.row.id, reason, exc_info=error)
        retry_until_written(lambda: self.give_up(job))


def _job_of(claim: Claim) -> Job:
    [row] = claim.rows
    return Job(claim.token, row)
