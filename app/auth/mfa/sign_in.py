"""The second step of a sign-in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...core.db.transaction import AnySession, transaction
from ..sign_in.gate import Challenge, Gate, Opened
from .devices import TrustedDevices
from .factors import SecondFactors
from .mfa_tokens import ANSWERING, MfaTokens


@dataclass(eq=False)
class SecondStep:
    session: AnySession
    tokens: MfaTokens
    second_factors: SecondFactors
    devices: TrustedDevices
    gate: Gate

    def finish(
        self, mfa_token: str, kind: str, value: Any, address: str, *, trust: bool = False
    ) -> Opened | Challenge:
        """Signed in by the first proof and this one. Of many at once with one token, one is."""
        first = self.tokens.read(ANSWERING, mfa_token)
        with self.tokens.one_try(first), transaction(self.session):
            proof = self.second_factors.check(first.account, kind, value, address)
            self.tokens.use_up(first)
            outcome = self.gate.admit(first.account, (*first.by, proof))
            if isinstance(outcome, Challenge) or not (trust and self.devices.days):
                return outcome
            told = {"trusted_device": self.devices.trust(first.account)}
            return outcome._replace(payload={**outcome.payload, **told})
