"""A server that says nothing would hold every thread for as long as each is patient with it.

So the first time-out raises a suspicion: a thread aside asks the server whether it is there. Unless
it answers at once (then only that one statement was slow), all others are refused without waiting,
until the thread aside has reached the server again. Who asks pays one look at `tripped`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from threading import Event, Lock, Thread

log = logging.getLogger(__name__)

GRACE_SECONDS = 0.25
PAUSE_SECONDS = 0.25


class Breaker:
    def __init__(self, name: str, reach: Callable[[], object]) -> None:
        """`reach` asks the server for a sign of life and raises when there is none; it must end
        within two seconds, so that a server is found again within two of its return."""
        self.name = name
        # Read without the lock: whoever comes a moment too late meets the time-out itself.
        self.tripped = False
        self._reach = reach
        self._lock = Lock()
        self._watched = False

    def suspect(self) -> None:
        """The server was silent for longer than anyone should wait."""
        with self._lock:
            if self._watched:
                return
            self._watched = True
        back = Event()
        Thread(target=self._watch, args=(back,), name=f"watch-{self.name}", daemon=True).start()
        if back.wait(GRACE_SECONDS):
            return
        with self._lock:
            self.tripped = self._watched
        if self.tripped:
            log.warning("The %s is silent: refusing at once what needs it", self.name)

    def _watch(self, back: Event) -> None:
        while not self._is_there():
            time.sleep(PAUSE_SECONDS)
        with self._lock:
            self._watched = False
            was_tripped, self.tripped = self.tripped, False
        back.set()
        if was_tripped:
            log.warning("The %s answers again", self.name)

    def _is_there(self) -> bool:
        try:
            self._reach()
        except Exception:
            # Whatever a driver raises: it is not there yet.
            return False
        return True
