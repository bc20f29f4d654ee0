"""Rate limits on wrong second factors, in addition to those on wrong passwords."""

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
from ..proof_names import RECOVERY_CODE
from ..sign_in.options import SignInOptions
from .devices import TrustedDevices
from .notices import FactorNotices

DAY = 24 * 3600
# Over all sign-ins of one account. At any time, three of a million codes are valid.
WRONG_FACTORS = parse_rates("10 per 10 minutes;50 per day")
# An attacker who reads the owner's email can reset the password any number of times.
RESETS_A_DAY = 3

# The counters of one attempt, each with its lifetime in seconds.
Counters = Sequence[tuple[str, int]]


@dataclass(eq=False)
class FactorLimits:
    """Recovery codes have separate counters: wrong codes of an app never block them."""

    keystore: Keystore
    notices: FactorNotices
    devices: TrustedDevices
    enabled: bool

    def count_attempt(self, account: AccountLike, kind: str, options: SignInOptions) -> Counters:
        """Count an attempt before it is checked, so that parallel requests cannot exceed the limit.

        Raises TooManyAttempts. An attacker who has the password can use up the attempts of a day,
        so trusted devices and the IP addresses of earlier sign-ins are exempt from the daily limit.
        """
        counted = []
        period = self.keystore.get(_period(account.id)) if self.enabled else None
        for rate in WRONG_FACTORS if self.enabled else ():
            key = _key(account.id, kind, rate, period)
            attempts = self.keystore.count(key, rate.seconds)
            if attempts > rate.amount and not (
                rate.seconds == DAY and self._is_owner(account, options)
            ):
                if attempts == rate.amount + 1:
                    self.notices.factor_guessed(account.email)
                raise TooManyAttempts(self.keystore.remaining(key), note={"limit": "second-factor"})
            counted.append((key, rate.seconds))
        return counted

    def uncount(self, counted: Counters) -> None:
        """Undo the count of an attempt that was correct or could not be checked."""
        for key, seconds in counted:
            self.keystore.count(key, seconds, by=-1)

    def trust_ip_address(self, account_id: AccountKey, ip_address: str) -> None:
        """Trust the IP address after a correct factor. A correct password is not enough: an
        attacker who guesses factors has it."""
        if self.enabled:
            self.keystore.put(_known(account_id, ip_address), "1", KNOWN_SECONDS)

    def reset(self, account_id: AccountKey) -> None:
        """Restart all counters of an account at zero."""
        self.keystore.put(_period(account_id), secrets.token_hex(4), UNLOCK_SECONDS)

    def reset_after_recovery(self, account_id: AccountKey) -> None:
        """Restart the counters after a password reset, a few times a day."""
        resets = self.keystore.count(f"factor-resets:{serialize_id(account_id)}", DAY)
        if resets <= RESETS_A_DAY:
            self.reset(account_id)

    def _is_owner(self, account: AccountLike, options: SignInOptions) -> bool:
        if self.keystore.get(_known(account.id, options.ip_address)) is not None:
            return True
        return options.device is not None and self.devices.is_trusted(account, options.device)


def _key(account_id: AccountKey, kind: str, rate: Rate, period: str | None) -> str:
    counter = "recovery-code" if kind == RECOVERY_CODE else "factor"
    key = f"{counter}-{rate.seconds}:{serialize_id(account_id)}"
    return key if period is None else f"{key}:{period}"


def _period(account_id: AccountKey) -> str:
    return f"factor-round:{serialize_id(account_id)}"


def _known(account_id: AccountKey, ip_address: str) -> str:
    return f"factor-known:{serialize_id(account_id)}:{rate_limit_network(ip_address)}"
