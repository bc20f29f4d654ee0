"""A server that says nothing would hold every thread for as long as each is patient with it.

So the first time-out raises a suspicion: a thread aside asks the server whether it is there. Unless
it answers at once (then only that one statement was slow), all others are refused without waiting,
until the thread aside has reached the server again. Workers that were forked from one process know
it of each other: none of them has to find out for itself.
"""

from __future__ import annotations

import logging
import mmap
import time
from collections.abc import Callable
from threading import Event, Lock, Thread

from .servers import after_fork

log = logging.getLogger(__name__)

GRACE_SECONDS = 0.25
PAUSE_SECONDS = 0.25
# What one worker has said holds for so long in the others, unless it says it again: it may be dead.
# Longer than the server is asked for, and the pause after it.
HOLDS_SECONDS = 3.0


class CircuitBreaker:
    def __init__(self, name: str, reach: Callable[[], object]) -> None:
        """`reach` pings the server and raises without a response; it must end
        within two seconds, so that a server is found again within two of its return."""
        self.name = name
        self._reach = reach
        # Until when all are refused, on the clock that all processes share, in memory that forked
        # ones do. Read without a lock: who comes a moment too late meets the time-out itself.
        self._until = memoryview(mmap.mmap(-1, 8)).cast("d")
        self._reset()
        after_fork(self._reset)

    def _reset(self) -> None:
        self._lock = Lock()
        # Exists while a thread checks the server; set when the thread knows the result.
        self._suspicion: Event | None = None

    @property
    def tripped(self) -> bool:
        until = self._until[0]
        return until != 0.0 and time.monotonic() < until

    @property
    def refuses(self) -> bool:
        """Whether to ask the server at all; a fresh suspicion is waited for, it takes a moment."""
        suspicion = self._suspicion
        if suspicion is not None and not self.tripped:
            # Longer than the grace period, after which the other processes are notified.
            suspicion.wait(2 * GRACE_SECONDS)
        return self.tripped

    def suspect(self) -> None:
        """The server was silent for longer than anyone should wait."""
        with self._lock:
            if self._suspicion is not None or self.tripped:
                return
            suspicion = self._suspicion = Event()
        Thread(
            target=self._watch, args=(suspicion,), name=f"watch-{self.name}", daemon=True
        ).start()
        if suspicion.wait(GRACE_SECONDS):
            return
        with self._lock:
            if self._suspicion is suspicion:
                self._refuse()
                log.warning("The %s is silent: refusing at once what needs it", self.name)
        suspicion.set()

    def _refuse(self) -> None:
        self._until[0] = time.monotonic() + HOLDS_SECONDS

    def _watch(self, suspicion: Event) -> None:
        while not self._is_there():
            with self._lock:
                # Unless another worker has reached it since.
                if self._until[0]:
                    self._refuse()
            time.sleep(PAUSE_SECONDS)
        with self._lock:
            self._suspicion = None
            was_tripped = self.tripped
            self._until[0] = 0.0
        suspicion.set()
        if was_tripped:
            log.warning("The %s answers again", self.name)

    def _is_there(self) -> bool:
        try:
            self._reach()
        except Exception:
            # Whatever a driver raises: it is not there yet.
            return False
        return True
