"""The rate limit of each token."""

import math
from datetime import UTC, datetime, timedelta

from .errors import TokenLimitReached

MINUTE = timedelta(minutes=1)
# The counters take a few megabytes at most; full ones are cleared.
MAX_TOKENS = 10_000


class RequestLimit:
    """Counts the requests of each token by the minute, in the memory of this worker: a counter in
    the shared state store would cost each request as much as reading the token."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._since = self._until = datetime.min.replace(tzinfo=UTC)
        self._counts: dict[str, int] = {}

    def count(self, token: str, now: datetime) -> None:
        """Count a request, before the token is read; raise TokenLimitReached beyond the limit."""
        if not self._since <= now < self._until or len(self._counts) >= MAX_TOKENS:
            self._since, self._until, self._counts = now, now + MINUTE, {}
        # Without a lock: simultaneous requests may count as one.
        counted = self._counts[token] = self._counts.get(token, 0) + 1
        if counted > self._most:
            raise TokenLimitReached(math.ceil((self._until - now).total_seconds()))
