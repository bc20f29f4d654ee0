"""The rate limiter, which counts requests per client in the shared state store; and quotas of rows,
which the database counts."""

from typing import Any, Protocol

from sqlalchemy import ColumnElement, select

from .config.field_types import parse_rates
from .db.transaction import AnySession, lock_name
from .errors import QuotaReached, TooManyRequests
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


def check_quota(
    session: AnySession, model: object, owner: object, most: int, *which: ColumnElement[bool]
) -> None:
    """Raise QuotaReached if the owner has this many rows. Until the open transaction ends, other
    requests that add rows of this owner wait."""
    lock_name(session, model, str(owner))
    if has_rows(session, model, most, *which):
        raise QuotaReached


def has_rows(session: AnySession, model: Any, amount: int, *which: ColumnElement[bool]) -> bool:
    """Return whether this many rows match, without counting all of them."""
    ids = select(model.id).where(*which).order_by(model.id)
    return session.scalar(ids.offset(amount - 1).limit(1)) is not None
