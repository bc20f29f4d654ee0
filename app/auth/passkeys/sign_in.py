from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...core.db.transaction import AnySession, transaction
from ..mfa.mfa_tokens import ANSWERING, MfaTokens
from ..sign_in.gate import Challenge, Gate, Opened
from ..sign_in.proof import PASSKEY
from .relying_party import Assertion
from .showing import SECOND_FACTOR, SIGN_IN, PasskeyProofs


@dataclass(eq=False)
class PasskeyLogin:
    session: AnySession
    proofs: PasskeyProofs
    tokens: MfaTokens
    gate: Gate

    def options(self, mfa_token: str | None) -> dict[str, Any]:
        """For whoever comes, and says by a passkey who they are; or for somebody who has shown that
        already, and is asked for one of theirs beside it."""
        if mfa_token is None:
            return self.proofs.options(SIGN_IN)
        first = self.tokens.read(ANSWERING, mfa_token)
        return self.proofs.options(SECOND_FACTOR, first.account.id)

    def with_passkey(self, given: Assertion) -> Opened | Challenge:
        """No name, and no second factor: it is one by itself."""
        shown = self.proofs.verify(given, SIGN_IN)
        with transaction(self.session):
            return self.gate.admit(self.proofs.accept(shown), by=(PASSKEY,))
