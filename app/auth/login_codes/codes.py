"""A code that is mailed, and the id of the sign-in that it belongs to, which only the browser that
asked is given: a code alone, phished from its user, is useless."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from typing import NamedTuple

from ...accounts.models import AccountLike
from ...accounts.service import Accounts
from ...core.keystore import Keystore
from ..errors import InvalidProof
from ..proofs import Proofs, ProofSubject, Purpose, account_subject

# The purpose of its proofs.
LOGIN_CODE = "login-code"
ID_BYTES = 24
# Of its text.
ID_LENGTH = 32


class CodeRequest(NamedTuple):
    login_id: str
    code: str


class UsedLoginCode(NamedTuple):
    # To which it was mailed.
    email: str
    # As it was when the code was compared; None where the email address has no account.
    account: AccountLike | None


@dataclass(eq=False)
class LoginCodes:
    keystore: Keystore
    proofs: Proofs
    accounts: Accounts
    purpose: Purpose

    def issue(self, email: str, account: AccountLike | None, is_welcome: bool) -> CodeRequest:
        """It ends the one before. For who has no account and is not welcome to one there is a code
        too, with the same work, and nothing that it opens."""
        login_id = secrets.token_urlsafe(ID_BYTES)
        key = _key(login_id)
        seconds = int(self.purpose.code_life.total_seconds())
        subject = _subject(key, account, is_welcome)
        issued = self.proofs.issue(self.purpose, subject, login_id)
        self.keystore.put(f"{LOGIN_CODE}:{key}", email, seconds)
        self.keystore.put(_newest(email), key, seconds)
        return CodeRequest(login_id, issued.code)

    def use(self, login_id: str, code: str, only: AccountLike | None = None) -> UsedLoginCode:
        """Of many at once, one uses it; otherwise InvalidProof.

        Of an id that is no longer the newest not even a try is counted: asking once more, as
        anybody may, would else be a way to end another's code by guessing at it.
        """
        key = _key(login_id)
        email = self.keystore.get(f"{LOGIN_CODE}:{key}")
        if email is None or self.keystore.get(_newest(email)) != key:
            raise InvalidProof
        account = self.accounts.find(email)
        if only is not None and (account is None or account.id != only.id):
            raise InvalidProof
        self.proofs.use_code(self.purpose, _subject(key, account), code, login_id)
        return UsedLoginCode(email, account)


def _key(login_id: str) -> str:
    """The keystore need not know what the browser holds."""
    return hashlib.sha256(login_id.encode()).hexdigest()


def _newest(email: str) -> str:
    return f"{LOGIN_CODE}-newest:{email}"


def _subject(key: str, account: AccountLike | None, is_welcome: bool = True) -> ProofSubject[None]:
    """Ended by another password and whatever else ends the account's tokens, and where there is no
    account, by its making."""
    state = (is_welcome,) if account is None else account_subject(account).state
    return ProofSubject(LOGIN_CODE, key, state, None)
