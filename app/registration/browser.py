"""Sign-in after verification, in the browser that registered the account.

The server keeps a proof for that browser. The proof has the fingerprint of the account's state: if
another person registers the same address afterwards, with another password, it ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple

from ..accounts.models import AccountLike
from ..auth.errors import InvalidProof
from ..auth.proofs import AccountProofs, ProofSubject, Purpose
from ..auth.sign_in.options import SignInOptions
from ..auth.sign_in.policy import Challenge, SignInPolicy, SignInResult

# The proof of a sign-in that follows a registration.
REGISTRATION = "registration"
# How long the browser that registered is signed in by the verification.
BROWSER_SECONDS = 3600
BROWSER = Purpose("registered-here", token_life=timedelta(seconds=BROWSER_SECONDS))


class PendingRegistration(NamedTuple):
    """The email address must be verified first."""

    # For the browser that registered; unusable if the request created no account.
    browser_proof: str


@dataclass(eq=False)
class RegisteredBrowsers:
    proofs: AccountProofs
    policy: SignInPolicy

    def issue(self, email: str, account: AccountLike | None) -> str:
        """Return the proof, after the same work with and without a registered account."""
        if account is not None:
            return self.proofs.token(account)
        unknown: ProofSubject[None] = ProofSubject("unknown", email, (), None)
        return self.proofs.proofs.token(self.proofs.purpose, unknown)

    def sign_in(
        self, account: AccountLike, proof: str, options: SignInOptions
    ) -> SignInResult | Challenge | None:
        """Sign in a verified account by the proof of its registration; None without a valid one."""
        try:
            if self.proofs.find(proof, None).id != account.id:
                return None
        except InvalidProof:
            return None
        return self.policy.admit(account, (REGISTRATION,), options)
