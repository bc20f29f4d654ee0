"""Rate limits on wrong second factors, in addition to those on wrong passwords."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from ...accounts.models import AccountLike
from ...core.config.field_types import Rate, parse_rates
from ...core.db.account_ids import serialize_id
from ...core.keystore import Keystore
from ...core.request import rate_limit_network
from ...core.types import AccountKey
from ..errors import TooManyAttempts
from ..limits import KNOWN_SECONDS, UNLOCK_SECONDS
from ..sign_in.options import RECOVERY_CODE, SignInOptions
from .devices import TrustedDevices
from .notices import FactorNotices

DAY = 24 * 3600
# Over all sign-ins of one account. Of a million codes three are right at any time.
WRONG_FACTORS = parse_rates("10 per 10 minutes;50 per day")
# An attacker who reads the owner's email can reset the password as often as they like.
FORGIVING_RESETS_A_DAY = 3

# The counters of one try, and how long each of them lives.
Counted = Sequence[tuple[str, int]]


@dataclass(eq=False)
class FactorFailures:
    """Recovery codes have separate counters: wrong codes of an app never block them."""

    keystore: Keystore
    notices: FactorNotices
    devices: TrustedDevices
    enabled: bool

    def count_try(self, account: AccountLike, kind: str, options: SignInOptions) -> Counted:
        """Count a try before it is checked, so that parallel requests cannot exceed the limit.

        Raises TooManyAttempts. An attacker who has the password can use up the day's tries, so a
        trusted device and the IP addresses of earlier sign-ins are exempt from the daily limit.
        """
        counted = []
        current = self.keystore.get(_round(account.id)) if self.enabled else None
        for rate in WRONG_FACTORS if self.enabled else ():
            key = _key(account.id, kind, rate, current)
            tries = self.keystore.count(key, rate.seconds)
            if tries > rate.amount and not (
                rate.seconds == DAY and self._is_owner(account, options)
            ):
                if tries == rate.amount + 1:
                    self.notices.guessed(account)
                raise TooManyAttempts(self.keystore.remaining(key), note={"limit": "second-factor"})
            counted.append((key, rate.seconds))
        return counted

    def uncount(self, counted: Counted) -> None:
        """The factor was right, or could not be checked."""
        for key, seconds in counted:
            self.keystore.count(key, seconds, by=-1)

    def remember(self, account_id: AccountKey, address: str) -> None:
        """The owner gave a right factor from this IP address. A right password is not enough:
        whoever guesses at factors has it."""
        if self.enabled:
            self.keystore.put(_known(account_id, address), "1", KNOWN_SECONDS)

    def forgive(self, account_id: AccountKey) -> None:
        """Start counting from zero, for all kinds of factors."""
        self.keystore.put(_round(account_id), secrets.token_hex(4), UNLOCK_SECONDS)

    def forgive_after_reset(self, account_id: AccountKey) -> None:
        resets = self.keystore.count(f"factor-resets:{serialize_id(account_id)}", DAY)
        if resets <= FORGIVING_RESETS_A_DAY:
            self.forgive(account_id)

    def _is_owner(self, account: AccountLike, options: SignInOptions) -> bool:
        if self.keystore.get(_known(account.id, options.address)) is not None:
            return True
        return options.device is not None and self.devices.knows(account, options.device)


def _key(account_id: AccountKey, kind: str, rate: Rate, current: str | None) -> str:
    counter = "recovery-code" if kind == RECOVERY_CODE else "factor"
    key = f"{counter}-{rate.seconds}:{serialize_id(account_id)}"
    return key if current is None else f"{key}:{current}"


def _round(account_id: AccountKey) -> str:
    return f"factor-round:{serialize_id(account_id)}"


def _known(account_id: AccountKey, address: str) -> str:
    return f"factor-known:{serialize_id(account_id)}:{rate_limit_network(address)}"
