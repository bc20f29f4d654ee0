"""Limits on failures: guessing passwords, and flooding people with recovery mails.

Counters live in the keystore and each is one atomic step, so the counting is exact however many
requests and workers there are. Successful sign-ins are never limited.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from ..accounts.actions import ACCOUNT_UNLOCKED
from ..accounts.models import AccountLike
from ..core.config.field_types import parse_rates
from ..core.context import report_action
from ..core.db.transaction import AnySession, transaction
from ..core.keystore import Keystore
from ..core.limits import RateLimit
from ..core.request import rate_limit_network
from .errors import TooManyAttempts
from .settings import AuthSettings

# How long an address that has signed in to an account, or proved that it reads its mail, is
# remembered as its owner's.
KNOWN_SECONDS = 90 * 24 * 3600
UNLOCK_SECONDS = 7 * 24 * 3600
# An account's counters are in this round until they are forgiven.
FIRST_ROUND = "0"


class Threshold(NamedTuple):
    amount: int
    seconds: int
    name: str
    # What one counter counts for: an account, an IP address, or an account and an address.
    per_account: bool = True
    per_address: bool = True

    def key(self, turn: str, email: str, address: str) -> str:
        account = f":{turn}:{email}" if self.per_account else ""
        return f"{self.name}{account}:{address}" if self.per_address else f"{self.name}{account}"


class Failures:
    """Rate limits on wrong passwords: per account and address, per address, and per account."""

    def __init__(self, keystore: Keystore, settings: AuthSettings) -> None:
        self.keystore = keystore
        self.enabled = settings.RATE_LIMITS_ENABLED
        self._account = _parse("login-account", settings.LOGIN_ACCOUNT_LIMIT, per_address=False)
        self._limits = [
            *_parse("login", settings.LOGIN_LIMIT),
            *_parse("login-address", settings.LOGIN_ADDRESS_LIMIT, per_account=False),
            *self._account,
        ]

    def check(self, email: str, address: str) -> None:
        """Refuse before a password is looked at, whether or not the account exists."""
        if self.enabled:
            self._check(email, rate_limit_network(address))

    def accept(self, email: str, address: str) -> None:
        """After a right password: remember that the account's owner signs in from this address.

        Failed sign-ins during the hash may have reached the limit: then this one is rejected too.
        """
        if self.enabled:
            network = rate_limit_network(address)
            self._check(email, network)
            self.keystore.put(_known(email, network), "1", KNOWN_SECONDS)

    def count(self, email: str, address: str) -> None:
        """Count a wrong password; the one that goes beyond a limit is refused itself."""
        if not self.enabled:
            return
        address = rate_limit_network(address)
        beyond: tuple[Threshold, str] | None = None
        turn = self.keystore.get(_round(email)) or FIRST_ROUND
        for limit, key in self._keys(turn, email, address):
            total = self.keystore.count(key, limit.seconds)
            if total > limit.amount and (limit.per_address or not self._is_known(email, address)):
                beyond = beyond or (limit, key)
        if beyond:
            raise self._too_many(*beyond)

    def forgive(self, email: str) -> None:
        """Reset the counters of an account, for every IP address."""
        self.keystore.put(_round(email), secrets.token_hex(4), UNLOCK_SECONDS)

    def locked_seconds(self, email: str) -> int:
        """How long the account is closed yet to addresses that it does not know. What is counted
        for one address alone is known by that address only."""
        if not self.enabled:
            return 0
        turn = self.keystore.get(_round(email)) or FIRST_ROUND
        keys = [limit.key(turn, email, "") for limit in self._account]
        totals = self.keystore.get_many(keys)
        reached = [
            key
            for limit, key, total in zip(self._account, keys, totals, strict=True)
            if int(total or 0) >= limit.amount
        ]
        return max(map(self.keystore.remaining, reached), default=0)

    def let_through(self, email: str, address: str) -> None:
        """After a proof by mail: whoever gave it signs in, however long others go on guessing.

        It opens the address that the proof was finished from, as a sign-in from there would have:
        to ask for a proof, which anybody may, opens nothing.
        """
        if self.enabled:
            self.forgive(email)
            self.keystore.put(_known(email, rate_limit_network(address)), "1", KNOWN_SECONDS)

    def _check(self, email: str, network: str) -> None:
        for limit, key, total in self._counted(email, network):
            if total >= limit.amount and (limit.per_address or not self._is_known(email, network)):
                raise self._too_many(limit, key)

    def _too_many(self, limit: Threshold, key: str) -> TooManyAttempts:
        return TooManyAttempts(self.keystore.remaining(key), note={"limit": limit.name})

    def _counted(self, email: str, address: str) -> list[tuple[Threshold, str, int]]:
        """Return each limit with its key and its count. Nearly all accounts are in their first
        round: one command reads all of their counters."""
        keys = self._keys(FIRST_ROUND, email, address)
        turn, *totals = self.keystore.get_many([_round(email), *(key for _, key in keys)])
        if turn is not None:
            keys = self._keys(turn, email, address)
            totals = self.keystore.get_many([key for _, key in keys])
        return [
            (limit, key, int(total or 0)) for (limit, key), total in zip(keys, totals, strict=True)
        ]

    def _keys(self, turn: str, email: str, address: str) -> list[tuple[Threshold, str]]:
        return [(limit, limit.key(turn, email, address)) for limit in self._limits]

    def _is_known(self, email: str, address: str) -> bool:
        return self.keystore.get(_known(email, address)) is not None


@dataclass(eq=False)
class AccountUnlock:
    """Resets the rate limits of an account, those of second factors included."""

    session: AnySession
    failures: Failures
    # Resets the limits of second factors by the account's id; None without second factors.
    reset_factors: Callable[[Any], object] | None

    def reset(self, account: AccountLike) -> None:
        self.failures.forgive(account.email)
        if self.reset_factors is not None:
            self.reset_factors(account.id)

    def unlock(self, account: AccountLike) -> None:
        """Reset the limits for an operator, and record it."""
        self.reset(account)
        with transaction(self.session) as session:
            report_action(session, ACCOUNT_UNLOCKED, account_id=account.id)


class RecoveryRequests:
    """Recovery mails for one address, known or not, and requests from one address."""

    def __init__(self, keystore: Keystore, settings: AuthSettings) -> None:
        # Unknown addresses get the response of known ones.
        self.hides_accounts = settings.HIDE_ACCOUNTS
        limit = partial(
            RateLimit, keystore, enabled=settings.RATE_LIMITS_ENABLED, error=TooManyAttempts
        )
        self._email = limit("recovery", settings.RECOVERY_LIMIT)
        self._address = limit("recovery-address", settings.RECOVERY_ADDRESS_LIMIT)

    def count(self, email: str, address: str) -> None:
        self._address.count(rate_limit_network(address))
        self._email.count(email)


class RegistrationLimits:
    """Registrations from one address, and mails to one, known or not."""

    def __init__(self, keystore: Keystore, settings: AuthSettings) -> None:
        limit = partial(
            RateLimit, keystore, enabled=settings.RATE_LIMITS_ENABLED, error=TooManyAttempts
        )
        self._mail = limit("registration", f"1 per minute;{settings.REGISTRATION_LIMIT}")
        self._address = limit("registration-address", settings.REGISTRATION_ADDRESS_LIMIT)

    def count(self, address: str) -> None:
        self._address.count(rate_limit_network(address))

    def may_mail(self, email: str) -> bool:
        """Of several at once for one address, one may."""
        return self._mail.allows(email)


class EmailChangeLimits:
    """Rate limits on changes of email address: per account, and per address."""

    def __init__(self, keystore: Keystore, settings: AuthSettings) -> None:
        self._account = RateLimit(
            keystore,
            "email-change",
            settings.EMAIL_CHANGE_LIMIT,
            enabled=settings.RATE_LIMITS_ENABLED,
            error=TooManyAttempts,
        )
        self._mails = RegistrationLimits(keystore, settings)

    def count(self, account_id: object) -> None:
        self._account.count(str(account_id))

    def may_mail(self, email: str) -> bool:
        """As for a registration, and together with those."""
        return self._mails.may_mail(email)


def _parse(name: str, notation: str, **per: bool) -> list[Threshold]:
    """Read Flask-Limiter's notation; `5/minute;50/hour` has two limits."""
    return [
        Threshold(rate.amount, rate.seconds, f"{name}-{rate.seconds}", **per)
        for rate in parse_rates(notation)
    ]


def _known(email: str, address: str) -> str:
    return f"known:{email}:{address}"


def _round(email: str) -> str:
    return f"login-round:{email}"
