"""The rate limiter: counts requests per client in the shared state store."""

from typing import Protocol

from .config.field_types import parse_rates
from .errors import TooManyRequests
from .keystore import Keystore


class LimitExceeded(Protocol):
    def __call__(self, retry_after: int, *, note: dict[str, str]) -> TooManyRequests: ...


class RateLimit:
    """One setting such as `5 per minute;50 per hour`. Each rate has its own counter per client."""

    def __init__(
        self,
        keystore: Keystore,
        name: str,
        notation: str,
        enabled: bool = True,
        error: LimitExceeded = TooManyRequests,
    ) -> None:
        self._keystore = keystore
        self._name = name
        self._rates = parse_rates(notation) if enabled else []
        self._error = error

    def count(self, client: str) -> None:
        """Count a request; raise the error with `Retry-After` if it exceeds a rate."""
        for amount, seconds in self._rates:
            limit = f"{self._name}-{seconds}"
            key = f"{limit}:{client}"
            if self._keystore.count(key, seconds) > amount:
                raise self._error(self._keystore.remaining(key), note={"limit": limit})

    def allows(self, client: str) -> bool:
        """Count a request and return whether it stays within all rates."""
        try:
            self.count(client)
        except TooManyRequests:
            return False
        return True
