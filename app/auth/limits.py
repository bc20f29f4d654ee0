"""Rate limits on wrong passwords, recovery emails, registrations and changes of email address.

Counters are in the shared state store and incremented atomically, so that they are exact with any
number of workers. Successful sign-ins are never limited.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from ..accounts.actions import ACCOUNT_UNLOCKED
from ..accounts.models import AccountLike
from ..core.config.field_types import parse_rates
from ..core.context import report_action
from ..core.db.transaction import AnySession, transaction
from ..core.keystore import Keystore
from ..core.limits import RateLimit
from ..core.request import rate_limit_network
from ..core.types import AccountKey
from .errors import TooManyAttempts
from .settings import AuthSettings

# How long a network is known for an account after a sign-in (MFA included) or an email verification
# from it. Requests from other networks cannot use up its rate limits.
KNOWN_SECONDS = 90 * 24 * 3600
# How a network became known: by a complete sign-in.
SIGNED_IN = "signed-in"
UNLOCK_SECONDS = 7 * 24 * 3600
# The round of an account's counters until their first reset.
FIRST_ROUND = "0"


class Threshold(NamedTuple):
    amount: int
    seconds: int
    name: str
    # Whether a counter is per account, per IP address, or per both.
    per_account: bool = True
    per_address: bool = True

    def key(self, round_id: str, email: str, network: str) -> str:
        account = f":{round_id}:{email}" if self.per_account else ""
        return f"{self.name}{account}:{network}" if self.per_address else f"{self.name}{account}"


class Failures:
    """Rate limits on wrong passwords: per account and IP address, per IP address, per account."""

    def __init__(self, keystore: Keystore, settings: AuthSettings) -> None:
        self.keystore = keystore
        self.enabled = settings.RATE_LIMITS_ENABLED
        self._account = _parse("login-account", settings.LOGIN_ACCOUNT_LIMIT, per_address=False)
        self._limits = [
            *_parse("login", settings.LOGIN_LIMIT),
            *_parse("login-address", settings.LOGIN_ADDRESS_LIMIT, per_account=False),
            *self._account,
        ]

    def check(self, email: str, ip_address: str) -> None:
        """Raise TooManyAttempts before the password is checked, with or without an account."""
        if self.enabled:
            self._check(email, rate_limit_network(ip_address))

    def accept(self, email: str, ip_address: str) -> None:
        """Raise TooManyAttempts if wrong passwords reached a limit during the hash."""
        if self.enabled:
            self._check(email, rate_limit_network(ip_address))

    def is_known(self, email: str, ip_address: str) -> bool:
        """Return whether the network is one of a complete sign-in, which has its own counters."""
        known = _known(email, rate_limit_network(ip_address))
        return self.enabled and self.keystore.get(known) == SIGNED_IN

    def trust(self, email: str, network: str) -> None:
        if self.enabled:
            self.keystore.put(f"known:{email}:{network}", SIGNED_IN, KNOWN_SECONDS)

    def count(self, email: str, ip_address: str) -> None:
        """Count a wrong password; raise TooManyAttempts if it exceeds a limit."""
        if not self.enabled:
            return
        network = rate_limit_network(ip_address)
        beyond: tuple[Threshold, str] | None = None
        round_id = self.keystore.get(_round(email)) or FIRST_ROUND
        for limit, key in self._keys(round_id, email, network):
            total = self.keystore.count(key, limit.seconds)
            if total > limit.amount and (limit.per_address or not self._is_known(email, network)):
                beyond = beyond or (limit, key)
        if beyond:
            raise self._too_many(*beyond)

    def reset(self, email: str) -> None:
        """Reset the counters of an account, for every IP address."""
        self.keystore.put(_round(email), secrets.token_hex(4), UNLOCK_SECONDS)

    def locked_seconds(self, email: str) -> int:
        """Return how long the account is locked for IP addresses that are not trusted. Limits of a
        single IP address are not included."""
        if not self.enabled:
            return 0
        round_id = self.keystore.get(_round(email)) or FIRST_ROUND
        keys = [limit.key(round_id, email, "") for limit in self._account]
        totals = self.keystore.get_many(keys)
        reached = [
            key
            for limit, key, total in zip(self._account, keys, totals, strict=True)
            if int(total or 0) >= limit.amount
        ]
        return max(map(self.keystore.remaining, reached), default=0)

    def reset_and_trust(self, email: str, ip_address: str) -> None:
        """Reset the counters and trust the network after a proof by email.

        The owner can then sign in while an attacker continues to guess. Only completing the proof
        has this effect: anyone can request one.
        """
        if self.enabled:
            self.reset(email)
            # Not a complete sign-in: an attacker who reads the owner's email gets no more attempts
            # at second factors.
            self.keystore.add(_known(email, rate_limit_network(ip_address)), "1", KNOWN_SECONDS)

    def _check(self, email: str, network: str) -> None:
        for limit, key, total in self._counted(email, network):
            if total >= limit.amount and (limit.per_address or not self._is_known(email, network)):
                raise self._too_many(limit, key)

    def _too_many(self, limit: Threshold, key: str) -> TooManyAttempts:
        return TooManyAttempts(self.keystore.remaining(key), note={"limit": limit.name})

    def _counted(self, email: str, network: str) -> list[tuple[Threshold, str, int]]:
        """Return each limit with its key and count. One command reads the counters of an
        account without a reset, which is the usual case."""
        keys = self._keys(FIRST_ROUND, email, network)
        round_id, *totals = self.keystore.get_many([_round(email), *(key for _, key in keys)])
        if round_id is not None:
            keys = self._keys(round_id, email, network)
            totals = self.keystore.get_many([key for _, key in keys])
        return [
            (limit, key, int(total or 0)) for (limit, key), total in zip(keys, totals, strict=True)
        ]

    def _keys(self, round_id: str, email: str, network: str) -> list[tuple[Threshold, str]]:
        return [(limit, limit.key(round_id, email, network)) for limit in self._limits]

    def _is_known(self, email: str, network: str) -> bool:
        return self.keystore.get(_known(email, network)) is not None


@dataclass(eq=False)
class AccountUnlock:
    """Resets the rate limits of an account, those of second factors included."""

    session: AnySession
    failures: Failures
    # Resets the limits of second factors by the account's id; None without second factors.
    reset_factors: Callable[[AccountKey], object] | None

    def reset(self, account: AccountLike) -> None:
        self.failures.reset(account.email)
        if self.reset_factors is not None:
            self.reset_factors(account.id)

    def unlock(self, account: AccountLike) -> None:
        """Reset the limits for an operator, and record it."""
        self.reset(account)
        with transaction(self.session) as session:
            report_action(session, ACCOUNT_UNLOCKED, account_id=account.id)


def auth_limit(keystore: Keystore, settings: AuthSettings, name: str, notation: str) -> RateLimit:
    return RateLimit(keystore, name, notation, settings.RATE_LIMITS_ENABLED, TooManyAttempts)


def mail_limit(
    failures: Failures, settings: AuthSettings, name: str, notation: str
) -> Callable[[str, str], None]:
    """Return what counts a request for an email with a code or a link: per email address, with or
    without an account, and per IP address.

    The known networks of an account share a second counter, so that strangers cannot use up the
    owner's requests, and twice the emails are the most.
    """
    keystore = failures.keystore
    by_email = auth_limit(keystore, settings, name, notation)
    by_address = auth_limit(keystore, settings, f"{name}-address", settings.RECOVERY_ADDRESS_LIMIT)

    def count(email: str, ip_address: str) -> None:
        by_address.count(rate_limit_network(ip_address))
        by_email.count(f"{email}:known" if failures.is_known(email, ip_address) else email)

    return count


class RegistrationLimits:
    """Rate limits on registrations: per IP address, and on emails per email address."""

    def __init__(self, keystore: Keystore, settings: AuthSettings) -> None:
        self._mail = auth_limit(
            keystore, settings, "registration", f"1 per minute;{settings.REGISTRATION_LIMIT}"
        )
        self._address = auth_limit(
            keystore, settings, "registration-address", settings.REGISTRATION_ADDRESS_LIMIT
        )

    def count(self, ip_address: str) -> None:
        self._address.count(rate_limit_network(ip_address))

    def may_mail(self, email: str) -> bool:
        """Count an email; of simultaneous requests for one address, one returns True."""
        return self._mail.allows(email)


class EmailChangeLimits:
    """Rate limits on changes of email address: per account, and per new address."""

    def __init__(self, keystore: Keystore, settings: AuthSettings) -> None:
        self._account = auth_limit(keystore, settings, "email-change", settings.EMAIL_CHANGE_LIMIT)
        self._mails = RegistrationLimits(keystore, settings)

    def count(self, account_id: object) -> None:
        self._account.count(str(account_id))

    def may_mail(self, email: str) -> bool:
        """Count an email together with those of registrations."""
        return self._mails.may_mail(email)


def _parse(name: str, notation: str, **per: bool) -> list[Threshold]:
    """Parse Flask-Limiter's notation; `5/minute;50/hour` has two limits."""
    return [
        Threshold(rate.amount, rate.seconds, f"{name}-{rate.seconds}", **per)
        for rate in parse_rates(notation)
    ]


def _known(email: str, network: str) -> str:
    return f"known:{email}:{network}"


def _round(email: str) -> str:
    return f"login-round:{email}"
