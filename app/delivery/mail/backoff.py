"""Longer and longer pauses after refusals: a wrong password that is tried again and again looks
like an attack, and servers shut out whoever does it."""

from __future__ import annotations

import mmap
from time import monotonic

FIRST_SECONDS, LONGEST_SECONDS = 15.0, 1800.0


class Backoff:
    """Shared by all processes that were forked from the one that made it."""

    def __init__(self) -> None:
        # Until when nothing is tried, on the clock that all processes share, and the last pause.
        self._shared = memoryview(mmap.mmap(-1, 16)).cast("d")

    @property
    def seconds_left(self) -> float:
        return max(0.0, self._shared[0] - monotonic())

    def grow(self) -> float:
        """Refused once more; says how long the pause is now."""
        if self.seconds_left:
            # Somebody else was refused at the same time.
            return self.seconds_left
        pause = min(LONGEST_SECONDS, max(FIRST_SECONDS, 2 * self._shared[1]))
        self._shared[1] = pause
        self._shared[0] = monotonic() + pause
        return pause

    def end(self) -> None:
        self._shared[0] = self._shared[1] = 0.0
