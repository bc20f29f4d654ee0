"""So many at once in this process, and whoever waits is served in the order of coming."""

from __future__ import annotations

from collections import deque
from threading import Event, Lock


class OwnTurns:
    """A semaphore that nobody overtakes: a turn that ends goes to whoever has waited longest."""

    def __init__(self, at_once: int) -> None:
        self._free = at_once
        self._waiting: deque[Event] = deque()
        self._lock = Lock()

    def take(self, seconds: float) -> bool:
        """Wait for a turn, for so long at most."""
        with self._lock:
            if self._free:
                self._free -= 1
                return True
            mine = Event()
            self._waiting.append(mine)
        if mine.wait(seconds):
            return True
        with self._lock:
            if not mine.is_set():
                self._waiting.remove(mine)
            return mine.is_set()

    def give_back(self) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._free += 1
