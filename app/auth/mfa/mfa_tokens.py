"""What a client goes on with after its first proof: signed, short-lived, good for one sign-in of
one account, and dead as soon as whatever ends the account's tokens happens."""

from __future__ import annotations

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

KIND = "first-proof"
ANSWERING = Purpose("second-factor", token_life=timedelta(minutes=5))
# As long as an authenticator waits to be confirmed.
ENROLLING = Purpose("second-factor-enrolment", token_life=timedelta(minutes=10))
MOST_TRIES = 5
# Longer than any of them lives.
SECONDS = 900
LONGEST_TOKEN = 2048


class FirstProof(NamedTuple):
    """Who has shown something, and what."""

    account: AccountLike
    by: tuple[str, ...]
    # Of this one token.
    nonce: str


@dataclass(eq=False)
class MfaTokens:
    session: AnySession
    proofs: Proofs
    accounts: Accounts
    ids: IdKind
    keystore: Keystore

    def issue(self, purpose: Purpose, account: AccountLike, by: tuple[str, ...]) -> str:
        return self.proofs.token(purpose, _subject(account, by, secrets.token_hex(8)))

    def read(self, purpose: Purpose, token: str) -> FirstProof:
        """Otherwise InvalidProof."""
        return self.proofs.by_token(purpose, KIND, token, self._find)

    @contextmanager
    def one_try(self, first: FirstProof) -> Iterator[None]:
        """Of five wrong ones; counted before it is looked at, so that none slips past."""
        key = f"mfa-tries:{first.nonce}"
        if self.keystore.count(key, SECONDS) > MOST_TRIES:
            raise TooManyAttempts(self.keystore.remaining(key), note={"limit": "mfa-token"})
        yield
        self.keystore.count(key, SECONDS, by=-1)

    def use_up(self, first: FirstProof) -> None:
        """Within the transaction of the sign-in, before it writes anything: of several at once one
        goes on. It counts again if the sign-in comes to nothing."""
        key = f"mfa-used:{first.nonce}"
        if not self.keystore.add(key, "1", SECONDS):
            raise InvalidProof
        after_rollback(self.session, lambda: self.keystore.drop(key))

    def _find(self, named: Any) -> ProofSubject[FirstProof] | None:
        account_id, by, nonce = named
        account = self.accounts.by_id(self.ids.from_text(account_id))
        return None if account is None else _subject(account, tuple(by), nonce)


def _subject(account: AccountLike, by: tuple[str, ...], nonce: str) -> ProofSubject[FirstProof]:
    state = account_subject(account).state
    named = [serialize_id(account.id), list(by), nonce]
    return ProofSubject(KIND, named, state, FirstProof(account, by, nonce))
