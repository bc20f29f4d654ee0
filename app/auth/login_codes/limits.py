from __future__ import annotations

from functools import partial

from ...core.keystore import Keystore
from ...core.limits import RateLimit
from ...core.origin import network_of
from ..errors import TooManyAttempts
from ..settings import AuthSettings


class LoginCodeRequests:
    """Mails to one address, known or not, and requests from one network."""

    def __init__(self, keystore: Keystore, settings: AuthSettings) -> None:
        limit = partial(
            RateLimit, keystore, enabled=settings.RATE_LIMITS_ENABLED, error=TooManyAttempts
        )
        # As many from one network as there may be recoveries, each counted by itself.
        self._network = limit("login-code-address", settings.RECOVERY_ADDRESS_LIMIT)
        self._email = limit("login-code", settings.LOGIN_CODE_LIMIT)

    def count(self, email: str, address: str) -> None:
        self._network.count(network_of(address))
        self._email.count(email)
