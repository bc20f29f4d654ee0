"""MFA tokens: what a client continues with after its first proof.

A token is signed and short-lived, for one sign-in of one account, and ends whenever the account's
access tokens end.
"""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple

from ...accounts.models import AccountLike
from ...accounts.service import Accounts
from ...core.db.account_ids import IdKind, serialize_id
from ...core.db.transaction import AnySession, after_rollback
from ...core.keystore import Keystore
from ..errors import InvalidProof, TooManyAttempts
from ..proofs import Proofs, ProofSubject, Purpose, account_subject
from ..sign_in.policy import SignIn

KIND = "first-proof"
# The purposes: to show a second factor, or to set one up.
CHALLENGE = Purpose("second-factor", token_life=timedelta(minutes=5))
# As long as an authenticator can be confirmed.
ENROLLMENT = Purpose("second-factor-enrolment", token_life=timedelta(minutes=10))
MAX_TRIES = 5
# How long the state store remembers a token: longer than any token is valid.
SECONDS = 900
LONGEST_TOKEN = 2048


class FirstProof(NamedTuple):
    """The account of a token, and the proofs that it has given."""

    account: AccountLike
    proofs: tuple[str, ...]
    # Identifies the token.
    nonce: str
    # Names the sign-in at an identity provider; empty for another first proof.
    reference: str = ""


@dataclass(eq=False)
class MfaTokens:
    session: AnySession
    proofs: Proofs
    accounts: Accounts
    ids: IdKind
    keystore: Keystore

    def issue(self, purpose: Purpose, sign_in: SignIn) -> str:
        nonce = secrets.token_hex(8)
        first = FirstProof(sign_in.account, sign_in.by, nonce, sign_in.reference)
        return self.proofs.token(purpose, _subject(first))

    def read(self, purpose: Purpose, token: str) -> FirstProof:
        """Return what a token says; raise InvalidProof for an invalid token."""
        return self.proofs.by_token(purpose, KIND, token, self._find)

    @contextmanager
    def limit_tries(self, first: FirstProof) -> Iterator[None]:
        """Allow five wrong tries for one token. Each try is counted before it is checked, so that
        parallel requests cannot exceed the limit."""
        key = f"mfa-tries:{first.nonce}"
        if self.keystore.count(key, SECONDS) > MAX_TRIES:
            raise TooManyAttempts(self.keystore.remaining(key), note={"limit": "mfa-token"})
        yield
        self.keystore.count(key, SECONDS, by=-1)

    def use_up(self, first: FirstProof) -> None:
        """Use the token up within the transaction of the sign-in; raise InvalidProof if another
        request has. A rollback makes the token valid again."""
        key = f"mfa-used:{first.nonce}"
        if not self.keystore.add(key, "1", SECONDS):
            raise InvalidProof
        after_rollback(self.session, lambda: self.keystore.drop(key))

    def _find(self, subject_id: Any) -> ProofSubject[FirstProof] | None:
        account_id, proofs, *names = subject_id
        account = self.accounts.by_id(self.ids.from_text(account_id))
        return None if account is None else _subject(FirstProof(account, tuple(proofs), *names))


def _subject(first: FirstProof) -> ProofSubject[FirstProof]:
    state = account_subject(first.account).state
    subject_id = [serialize_id(first.account.id), list(first.proofs), first.nonce]
    if first.reference:
        subject_id.append(first.reference)
    return ProofSubject(KIND, subject_id, state, first)
