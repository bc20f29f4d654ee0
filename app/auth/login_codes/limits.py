from __future__ import annotations

from ...core.config.rates import parse_rates
from ...core.keystore import Keystore
from ...core.origin import network_of
from ..errors import TooManyAttempts
from ..settings import AuthSettings


class LoginCodeRequests:
    """Mails to one address, known or not, and requests from one network."""

    def __init__(self, keystore: Keystore, settings: AuthSettings) -> None:
        self.keystore = keystore
        self.enabled = settings.RATE_LIMITS_ENABLED
        # As many from one network as there may be recoveries, each counted by itself.
        self._network = parse_rates(settings.RECOVERY_ADDRESS_LIMIT)
        self._email = parse_rates(settings.LOGIN_CODE_LIMIT)

    def count(self, email: str, address: str) -> None:
        if not self.enabled:
            return
        for name, rates, who in (
            ("login-code-address", self._network, network_of(address)),
            ("login-code", self._email, email),
        ):
            for amount, seconds in rates:
                limit = f"{name}-{seconds}"
                key = f"{limit}:{who}"
                if self.keystore.count(key, seconds) > amount:
                    raise TooManyAttempts(self.keystore.remaining(key), note={"limit": limit})
