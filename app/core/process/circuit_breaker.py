"""A circuit breaker for a server that does not respond, which would block every thread.

The first timeout starts a thread that checks the server. Unless the server responds at once (then
only the one statement was slow), all calls are rejected without waiting, until the thread reaches
the server again. Workers that were forked from one process share the state of the breaker.
"""

import logging
import mmap
import time
from collections.abc import Callable
from threading import Event, Lock, Thread

from .servers import after_fork

log = logging.getLogger(__name__)

GRACE_SECONDS = 0.25
PAUSE_SECONDS = 0.25
CHECK_SECONDS = 2.0
# How much longer than one check the breaker stays open unless the checking worker extends it, which
# may have died.
MARGIN_SECONDS = 1.0


class CircuitBreaker:
    def __init__(
        self,
        name: str,
        reach: Callable[[], object],
        *,
        check_seconds: float = CHECK_SECONDS,
        pause_seconds: float = PAUSE_SECONDS,
    ) -> None:
        """`reach` pings the server, or raises within `check_seconds`."""
        self.name = name
        self._reach = reach
        self._pause_seconds = pause_seconds
        self._open_seconds = check_seconds + pause_seconds + MARGIN_SECONDS
        # Until when calls are rejected, in memory and on a clock that forked processes share. Read
        # without a lock: a call that reads an old value waits for its timeout.
        self._until = memoryview(mmap.mmap(-1, 8)).cast("d")
        self._openings = memoryview(mmap.mmap(-1, 8)).cast("q")
        self._reset()
        after_fork(self._reset)

    def _reset(self) -> None:
        self._lock = Lock()
        # Exists while a thread checks the server; set when the thread knows the result.
        self._check: Event | None = None

    @property
    def is_open(self) -> bool:
        until = self._until[0]
        return until != 0.0 and time.monotonic() < until

    @property
    def openings(self) -> int:
        """How often the breaker opened in any worker: each time, connections are lost."""
        return self._openings[0]

    @property
    def is_rejecting(self) -> bool:
        """Return whether to reject a call; wait for a check that has just started."""
        check = self._check
        if check is not None and not self.is_open:
            # Longer than the grace period, after which the other processes are notified.
            check.wait(2 * GRACE_SECONDS)
        return self.is_open

    def report_timeout(self) -> None:
        """Check the server after a timeout, and open the breaker if it does not respond."""
        with self._lock:
            if self._check is not None or self.is_open:
                return
            check = self._check = Event()
        Thread(target=self._watch, args=(check,), name=f"watch-{self.name}", daemon=True).start()
        if check.wait(GRACE_SECONDS):
            return
        with self._lock:
            if self._check is check:
                self._extend()
                self._openings[0] += 1
                log.warning(
                    "The %s does not respond: requests that need it are rejected", self.name
                )
        check.set()

    def _extend(self) -> None:
        self._until[0] = time.monotonic() + self._open_seconds

    def _watch(self, check: Event) -> None:
        while not self._is_reachable():
            with self._lock:
                # Another worker may have reached the server and closed the breaker.
                if self._until[0]:
                    self._extend()
            time.sleep(self._pause_seconds)
        with self._lock:
            self._check = None
            was_open = self.is_open
            self._until[0] = 0.0
        check.set()
        if was_open:
            log.warning("The %s responds again", self.name)

    def _is_reachable(self) -> bool:
        try:
            self._reach()
        except Exception:
            # Any driver's error means that the server is still unreachable.
            return False
        return True
