from __future__ import annotations

from dataclasses import dataclass

from ...core.db.transaction import AnySession, transaction
from ..sign_in.gate import Challenge, Gate, Opened
from ..sign_in.proof import PASSKEY
from .relying_party import Assertion
from .showing import SIGN_IN, PasskeyProofs


@dataclass(eq=False)
class PasskeyLogin:
    session: AnySession
    proofs: PasskeyProofs
    gate: Gate

    def with_passkey(self, given: Assertion) -> Opened | Challenge:
        """No name, and no second factor: it is one by itself."""
        shown = self.proofs.verify(given, SIGN_IN)
        with transaction(self.session):
            return self.gate.admit(self.proofs.accept(shown), by=(PASSKEY,))
