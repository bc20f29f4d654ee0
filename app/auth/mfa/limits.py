"""Limits on guessing second factors, beside those on wrong passwords."""

from __future__ import annotations

from dataclasses import dataclass

from ...accounts.models import AccountLike
from ...core.config.rates import parse_rates
from ...core.keystore import Keystore
from ..errors import TooManyAttempts
from .notices import FactorNotices

# Over all sign-ins of one account. Of a million codes three are right at any time.
WRONG_FACTORS = parse_rates("10 per 10 minutes;50 per day")


@dataclass(eq=False)
class FactorFailures:
    keystore: Keystore
    notices: FactorNotices
    enabled: bool

    def try_one(self, account: AccountLike) -> None:
        """Counted before it is looked at, so that none slips past in parallel."""
        for rate in WRONG_FACTORS if self.enabled else ():
            key = _key(account.id, rate.seconds)
            tries = self.keystore.count(key, rate.seconds)
            if tries == rate.amount + 1:
                self.notices.guessed(account)
            if tries > rate.amount:
                raise TooManyAttempts(self.keystore.remaining(key), note={"limit": "second-factor"})

    def forget_one(self, account_id: object) -> None:
        """It was right."""
        for rate in WRONG_FACTORS if self.enabled else ():
            self.keystore.count(_key(account_id, rate.seconds), rate.seconds, by=-1)


def _key(account_id: object, seconds: int) -> str:
    return f"factor-{seconds}:{account_id}"
