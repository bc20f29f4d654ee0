"""The rate limit of each token."""

import math
from threading import Lock

from ..core.clock import Clock
from .errors import TokenLimitReached

MINUTE = 60
# The counters take a few megabytes at most; full ones are cleared.
MAX_TOKENS = 10_000


class RequestLimit:
    """Counts the requests of each token by the minute, in the memory of this worker: a counter in
    the shared state store would cost each request as much as reading the token."""

    def __init__(self, clock: Clock, most: int) -> None:
        self._clock = clock
        self._most = most
        self._minute = 0
        self._counts: dict[bytes, int] = {}
        self._lock = Lock()

    def check(self, digest: bytes) -> None:
        """Raise TokenLimitReached, before the query, for a token that has reached the limit."""
        if self._counts.get(digest, 0) >= self._most:
            now = self._clock.now().timestamp()
            if now // MINUTE == self._minute:
                raise TokenLimitReached(math.ceil(MINUTE - now % MINUTE))

    def count(self, digest: bytes) -> None:
        """Count a request of a valid token; raise TokenLimitReached beyond the limit."""
        minute = int(self._clock.now().timestamp() // MINUTE)
        with self._lock:
            if minute != self._minute or len(self._counts) >= MAX_TOKENS:
                self._minute, self._counts = minute, {}
            counted = self._counts[digest] = self._counts.get(digest, 0) + 1
        if counted > self._most:
            self.check(digest)
