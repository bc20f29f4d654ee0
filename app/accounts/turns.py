"""Whose hash is computed now: as many as there are cores, in the order of coming."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..core.process import servers
from .own_turns import OwnTurns

if TYPE_CHECKING:
    from .common_turns import CommonTurns

# As long as the last one waits where there is a process for each core and every one of them is
# full. Whoever waits longer waits for a process that is stopped and keeps the turns that it has.
PATIENCE = 6.0

log = logging.getLogger(__name__)


class Turns:
    """One line for all processes, since nobody who signs in chooses which of them serves him. Where
    there is no such line, or it does not move, each process has its own."""

    def __init__(self, at_once: int, patience: float = PATIENCE, line: str = "frontdesk") -> None:
        self._at_once = at_once
        self._patience = patience
        self._line = line
        self._own = OwnTurns(at_once)
        self._common: CommonTurns | None = None
        self._alone = False

    def take(self, seconds: float) -> Callable[[], None] | None:
        """Wait for a turn, for so long at most; what it returns gives the turn back."""
        until = time.monotonic() + seconds
        if give_back := self._take_common(min(seconds, self._patience)):
            return give_back
        return self._own.give_back if self._own.take(until - time.monotonic()) else None

    def _take_common(self, seconds: float) -> Callable[[], None] | None:
        # The kernel would keep all greenlets waiting.
        if self._alone or servers.in_place_of_threads():
            return None
        try:
            return self._opened().take(seconds)
        except OSError as error:
            self._alone = True
            log.info("Sign-ins wait in a line of each process: %s", error)
            return None

    def _opened(self) -> CommonTurns:
        if self._common is None:
            from .common_turns import CommonTurns

            self._common = CommonTurns(self._at_once, self._line)
        return self._common
