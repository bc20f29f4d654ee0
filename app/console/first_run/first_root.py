"""The first account with the role `root`: made by whoever can read what the server prints."""

from dataclasses import dataclass
from datetime import timedelta

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
# Nothing is stored for the link: it is about the service itself, and about nobody yet.
_SERVICE = ProofSubject("service", ROOT, (), None)
# Longer than the hash of a password takes.
_MAKING_SECONDS = 30


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
        # The first condition is the index's, which holds the few that are not `user`.
        found = select(model.id).where(model.role != "user", model.role == ROOT).limit(1)
        return self.context.session.scalar(found) is None

    def link(self) -> str:
        """Good for a day, and only until there is a root. Beginning with a slash where nobody has
        said at which address the service is reached."""
        core = self.context.settings.core
        token = self.context.get(Proofs).token(_FIRST_ROOT, _SERVICE)
        return f"{core.console_url}/first-root?token={token}"

    def check(self, token: str) -> None:
        if not self.is_missing():
            raise RootExists
        self.context.get(Proofs).by_token(_FIRST_ROOT, _SERVICE.kind, token, _found)

    def make(self, token: str, email: str, password: str) -> AccountLike:
        """Of two with the same link at once, one makes it."""
        self.check(token)
        accounts = self.context.get(Accounts)
        accounts.passwords.rules.check(password, fold(email), "password")
        keystore, key = self.context.keystore, "first-root"
        if not keystore.add(key, "making", _MAKING_SECONDS):
            raise RootExists
        try:
            self.check(token)
            made: AccountLike = accounts.create(email, password, role=ROOT)
            return made
        finally:
            keystore.drop(key)


def _found(subject_id: object) -> ProofSubject[None]:
    if subject_id != ROOT:
        raise InvalidProof
    return _SERVICE
