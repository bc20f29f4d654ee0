"""One-time codes by email. A code is valid only with the id of its sign-in, which only the
requesting browser gets: a phished code alone is useless."""

import hashlib
import secrets
from dataclasses import dataclass
from typing import NamedTuple

from ...accounts.models import AccountLike
from ...accounts.service import Accounts
from ...core.keystore import Keystore
from ..errors import InvalidProof
from ..proofs import Proofs, ProofSubject, Purpose, account_subject

# The purpose that a sign-in code is bound to, so that no other proof is accepted for it.
LOGIN_CODE = "login-code"
ID_BYTES = 24
# The length of the id as text.
ID_LENGTH = 32


class CodeRequest(NamedTuple):
    login_id: str
    code: str


class UsedLoginCode(NamedTuple):
    # The email address that got the code.
    email: str
    # The account when the code was compared; None if the email address has none.
    account: AccountLike | None


@dataclass(eq=False)
class LoginCodes:
    keystore: Keystore
    proofs: Proofs
    accounts: Accounts
    purpose: Purpose

    def issue(self, email: str, account: AccountLike | None, may_sign_up: bool) -> CodeRequest:
        """Issue a code, which replaces the former one. For an address that has no account and may
        not sign up, do the same work and issue a code that is never valid."""
        login_id = secrets.token_urlsafe(ID_BYTES)
        key = _key(login_id)
        seconds = int(self.purpose.code_life.total_seconds())
        subject = _subject(key, account, may_sign_up)
        issued = self.proofs.issue(self.purpose, subject, login_id)
        self.keystore.put(f"{LOGIN_CODE}:{key}", email, seconds)
        self.keystore.put(_newest(email), key, seconds)
        return CodeRequest(login_id, issued.code)

    def use(self, login_id: str, code: str, only: AccountLike | None = None) -> UsedLoginCode:
        """Use up a code; raise InvalidProof for an invalid code, and for all but one of
        simultaneous uses.

        Attempts with an older id are not counted: otherwise anyone could request another code and
        end the newest one by wrong attempts.
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
    """Return a digest of the id, so that the shared state store does not have the id itself."""
    return hashlib.sha256(login_id.encode()).hexdigest()


def _newest(email: str) -> str:
    return f"{LOGIN_CODE}-newest:{email}"


def _subject(key: str, account: AccountLike | None, may_sign_up: bool = True) -> ProofSubject[None]:
    """Return the subject of a code. A change of password or a revocation of tokens ends the code;
    without an account, the creation of one does."""
    state = (may_sign_up,) if account is None else account_subject(account).state
    return ProofSubject(LOGIN_CODE, key, state, None)
