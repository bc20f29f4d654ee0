"""The first account with the role `root`, created with a link that the server prints."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import select

from ...accounts.addresses import fold
from ...accounts.models import AccountLike
from ...accounts.service import Accounts
from ...auth.errors import InvalidProof
from ...auth.proofs import Proofs, ProofSubject, Purpose
from ...core.context import Context
from ...core.errors import Conflict

ROOT = "root"
HOURS = 24
_FIRST_ROOT = Purpose("first-root", token_life=timedelta(hours=HOURS))
# The link is for the service itself, not for an account, and nothing is stored for it.
_SERVICE = ProofSubject("service", ROOT, (), None)
# Longer than hashing a password takes.
_LOCK_SECONDS = 30


class RootExists(Conflict):
    code = "root_exists"
    detail = "A root account already exists"
    title = "A root account exists"
    cause = "The first root account can be created only while the service has none."
    fix = "Sign in with the existing root account, or create accounts with `flask accounts create`."


@dataclass(eq=False)
class FirstRoot:
    context: Context

    def is_missing(self) -> bool:
        model = self.context.get(Accounts).model
        # The first condition selects the partial index of accounts with a role other than `user`.
        found = select(model.id).where(model.role != "user", model.role == ROOT).limit(1)
        return self.context.session.scalar(found) is None

    def link(self) -> str:
        """Return the link, which expires after a day or when a root account exists.

        Without a public URL in the settings, the link is only a path.
        """
        return f"{self.context.settings.core.console_url}/first-root?token={self.token()}"

    def token(self) -> str:
        return self.context.get(Proofs).token(_FIRST_ROOT, _SERVICE)

    def check(self, token: str) -> None:
        if not self.is_missing():
            raise RootExists
        self.context.get(Proofs).by_token(_FIRST_ROOT, _SERVICE.kind, token, _check_subject)

    def make(self, token: str, email: str, password: str | None, **own: Any) -> AccountLike:
        """Create the account; `own` are the application's columns.

        Of two simultaneous requests with the link, one succeeds.
        """
        self.check(token)
        accounts = self.context.get(Accounts)
        if password is not None:
            accounts.passwords.rules.check_new_password(password, fold(email), "password")
        keystore, key = self.context.keystore, "first-root"
        if not keystore.add(key, "making", _LOCK_SECONDS):
            raise RootExists
        try:
            self.check(token)
            account: AccountLike = accounts.create(email, password, role=ROOT, **own)
            return account
        finally:
            keystore.drop(key)


def _check_subject(subject_id: object) -> ProofSubject[None]:
    if subject_id != ROOT:
        raise InvalidProof
    return _SERVICE
