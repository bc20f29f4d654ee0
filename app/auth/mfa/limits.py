"""Rate limits on wrong second factors, in addition to those on wrong passwords."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from ...accounts.models import AccountLike
from ...core.config.field_types import Rate, parse_rates
from ...core.db.account_ids import serialize_id
from ...core.request import rate_limit_network
from ...core.types import AccountKey
from ..errors import TooManyAttempts
from ..limits import UNLOCK_SECONDS, Failures
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
    """Recovery codes have separate counters: wrong codes of an app never block them.

    Each network that is known for the account has separate counters, and so have its trusted
    devices together: an attacker who has the password cannot use up the owner's attempts.
    """

    failures: Failures
    notices: FactorNotices
    devices: TrustedDevices

    def __post_init__(self) -> None:
        self.keystore = self.failures.keystore

    def count_attempt(self, account: AccountLike, kind: str, options: SignInOptions) -> Counters:
        """Count an attempt before it is checked, so that parallel requests cannot exceed the limit.

        Raises TooManyAttempts.
        """
        counted: list[tuple[str, int]] = []
        if not self.failures.enabled:
            return counted
        period = self.keystore.get(_period(account.id))
        scope = self._scope(account, options)
        for rate in WRONG_FACTORS:
            key = _key(account.id, kind, rate, period, scope)
            attempts = self.keystore.count(key, rate.seconds)
            if attempts > rate.amount:
                if attempts == rate.amount + 1:
                    self._notify(account, rate, scope)
                raise TooManyAttempts(self.keystore.remaining(key), note={"limit": "second-factor"})
            counted.append((key, rate.seconds))
        return counted

    def uncount(self, counted: Counters) -> None:
        """Undo the count of an attempt that was correct or could not be checked."""
        for key, seconds in counted:
            self.keystore.count(key, seconds, by=-1)

    def reset(self, account_id: AccountKey) -> None:
        """Restart all counters of an account at zero."""
        self.keystore.put(_period(account_id), secrets.token_hex(4), UNLOCK_SECONDS)

    def reset_after_recovery(self, account_id: AccountKey) -> None:
        """Restart the counters after a password reset, a few times a day."""
        resets = self.keystore.count(f"factor-resets:{serialize_id(account_id)}", DAY)
        if resets <= RESETS_A_DAY:
            self.reset(account_id)

    def _scope(self, account: AccountLike, options: SignInOptions) -> str:
        """Return the known network, `device` for a trusted device, or nothing for strangers."""
        if self.failures.is_known(account.email, options.ip_address):
            return rate_limit_network(options.ip_address)
        is_trusted = options.device and self.devices.is_trusted(account, options.device)
        return "device" if is_trusted else ""

    def _notify(self, account: AccountLike, rate: Rate, scope: str) -> None:
        """Email the owner: all known networks and devices together as often as strangers."""
        noticed = f"factor-noticed-{rate.seconds}:{serialize_id(account.id)}"
        if not scope or self.keystore.add(noticed, "1", rate.seconds):
            self.notices.factor_guessed(account.email)


def _key(account_id: AccountKey, kind: str, rate: Rate, period: str | None, scope: str) -> str:
    counter = "recovery-code" if kind == RECOVERY_CODE else "factor"
    parts = [f"{counter}-{rate.seconds}", str(serialize_id(account_id)), period, scope]
    return ":".join(filter(None, parts))


def _period(account_id: AccountKey) -> str:
    return f"factor-round:{serialize_id(account_id)}"
