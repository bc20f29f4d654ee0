"""Limits on failures: guessing passwords, and flooding people with recovery mails.

Counters live in the keystore and each is one atomic step, so the counting is exact however many
requests and workers there are. A client that signs in rightly never meets a limit.
"""

from __future__ import annotations

import ipaddress
import secrets
from collections.abc import Iterator
from typing import NamedTuple

from ..core.keystore import Keystore
from ..core.limits import parse_rates
from ..core.settings import AuthSettings
from .errors import TooManyAttempts

# How long an address that has signed in to an account is remembered as its owner's.
KNOWN_SECONDS = 90 * 24 * 3600
UNLOCK_SECONDS = 7 * 24 * 3600
# An account's counters are in this round until they are forgiven.
FIRST_ROUND = "0"


class Limit(NamedTuple):
    amount: int
    seconds: int
    name: str

    def key(self, *who: str) -> str:
        return ":".join((self.name, *who))


class Failures:
    """Wrong passwords, per account and address, per address, and per account."""

    def __init__(self, keystore: Keystore, settings: AuthSettings) -> None:
        self.keystore = keystore
        self.enabled = settings.RATE_LIMITS_ENABLED
        self._both = _parse("login", settings.LOGIN_LIMIT)
        self._address = _parse("login-address", settings.LOGIN_ADDRESS_LIMIT)
        self._account = _parse("login-account", settings.LOGIN_ACCOUNT_LIMIT)

    def check(self, email: str, address: str) -> None:
        """Refuse before a password is looked at, whether or not the account exists."""
        if not self.enabled:
            return
        address = _network(address)
        for limit, key, total in self._counted(email, address):
            if total >= limit.amount and not (
                limit in self._account and self._is_known(email, address)
            ):
                raise TooManyAttempts(self.keystore.remaining(key))

    def count(self, email: str, address: str) -> None:
        """Count a wrong password; the one that goes beyond a limit is refused itself."""
        if not self.enabled:
            return
        address = _network(address)
        beyond = None
        turn = self.keystore.get(_round(email)) or FIRST_ROUND
        for limit, key in self._keys(turn, email, address):
            total = self.keystore.count(key, limit.seconds)
            if total > limit.amount and not (
                limit in self._account and self._is_known(email, address)
            ):
                beyond = beyond or key
        if beyond:
            raise TooManyAttempts(self.keystore.remaining(beyond))

    def remember(self, email: str, address: str) -> None:
        """The account's owner signs in from this address."""
        if self.enabled:
            self.keystore.put(_known(email, _network(address)), "1", KNOWN_SECONDS)

    def forgive(self, email: str) -> None:
        """Start counting anew for an account, from every address."""
        self.keystore.put(_round(email), secrets.token_hex(4), UNLOCK_SECONDS)

    def _counted(self, email: str, address: str) -> Iterator[tuple[Limit, str, int]]:
        """Nearly all accounts are in their first round: of them, one question tells all."""
        keys = self._keys(FIRST_ROUND, email, address)
        turn, *totals = self.keystore.get_many([_round(email), *(key for _, key in keys)])
        if turn is not None:
            keys = self._keys(turn, email, address)
            totals = self.keystore.get_many([key for _, key in keys])
        for (limit, key), total in zip(keys, totals, strict=True):
            yield limit, key, int(total or 0)

    def _keys(self, turn: str, email: str, address: str) -> list[tuple[Limit, str]]:
        return [
            *((limit, limit.key(turn, email, address)) for limit in self._both),
            *((limit, limit.key(address)) for limit in self._address),
            *((limit, limit.key(turn, email)) for limit in self._account),
        ]

    def _is_known(self, email: str, address: str) -> bool:
        return self.keystore.get(_known(email, address)) is not None


class RecoveryRequests:
    """Recovery mails for one address, known or not, and requests from one address."""

    def __init__(self, keystore: Keystore, settings: AuthSettings) -> None:
        self.keystore = keystore
        self.enabled = settings.RATE_LIMITS_ENABLED
        self._email = _parse("recovery", settings.RECOVERY_LIMIT)
        self._address = _parse("recovery-address", settings.RECOVERY_ADDRESS_LIMIT)

    def count(self, email: str, address: str) -> None:
        if not self.enabled:
            return
        for limits, who in ((self._address, _network(address)), (self._email, email)):
            for limit in limits:
                key = limit.key(who)
                if self.keystore.count(key, limit.seconds) > limit.amount:
                    raise TooManyAttempts(self.keystore.remaining(key))


def _parse(name: str, notation: str) -> list[Limit]:
    """Flask-Limiter's notation; several may stand in one, as in `5/minute;50/hour`."""
    return [
        Limit(rate.amount, rate.seconds, f"{name}-{rate.seconds}") for rate in parse_rates(notation)
    ]


def _network(address: str) -> str:
    """One IPv6 customer has a whole /64 to come from."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address or "unknown"
    if isinstance(found, ipaddress.IPv6Address):
        # A server that listens on [::] sees the whole of IPv4 within one /64.
        if found.ipv4_mapped is not None:
            return str(found.ipv4_mapped)
        return str(ipaddress.ip_network((found, 64), strict=False).network_address)
    return str(found)


def _known(email: str, address: str) -> str:
    return f"known:{email}:{address}"


def _round(email: str) -> str:
    return f"login-round:{email}"
