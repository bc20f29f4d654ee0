"""Leases that are renewed during slow work, and records that wait for the database."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from threading import Event, Thread
from types import TracebackType

from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from ...core.queue import LEASE

log = logging.getLogger(__name__)

LEASE_SECONDS = LEASE.total_seconds()
RENEW_SECONDS = LEASE_SECONDS / 4
# After this time a batch is left to the worker that claims it next. It may be longer than the
# lease: a row accepts a result only from the worker that claimed it.
RECORD_SECONDS = 25.0


class Lease:
    """A lease that a separate thread renews while the work goes on."""

    def __init__(self, renew: Callable[[], object]) -> None:
        self._renew = renew
        self._done = Event()
        self._until = time.monotonic() + LEASE_SECONDS

    def __enter__(self) -> Lease:
        Thread(target=self._renew_regularly, name="frontdesk-lease", daemon=True).start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._done.set()

    @property
    def is_valid(self) -> bool:
        """Whether the lease is valid. After a long pause of the process, another worker may have
        claimed its rows."""
        return time.monotonic() < self._until

    def _renew_regularly(self) -> None:
        while not self._done.wait(RENEW_SECONDS):
            begin = time.monotonic()
            if not self.is_valid:
                return
            try:
                self._renew()
                self._until = begin + LEASE_SECONDS
            except Exception as error:
                log.warning("A lease could not be renewed: %s", type(error).__name__)


def retry_until_written(record: Callable[[], object]) -> None:
    """Record a result that no other process knows; wait for a database that is briefly away."""
    until = time.monotonic() + RECORD_SECONDS
    pause = 0.05
    while True:
        try:
            record()
            return
        except (DBAPIError, PoolTimeout):
            if time.monotonic() > until:
                raise
            time.sleep(pause)
            pause = min(2.0, pause * 2)
