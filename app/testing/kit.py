"""The object of the `frontdesk` fixture: accounts, clients, sent messages and the clock."""

from flask import Flask

from ..accounts.service import Accounts
from ..auth.proofs import IssuedProof
from ..auth.recovery import RECOVERY
from ..core.context import service
from ..delivery.worker.worker import Worker
from ..workspaces.models import Workspace
from ..workspaces.service import Workspaces
from .client import Api
from .fakes import Fakes
from .people import PASSWORD, Person, make_person

# bcrypt's minimum, because tests create many accounts.
ROUNDS = 4


class Kit:
    def __init__(self, app: Flask, fakes: Fakes) -> None:
        self.app = app
        self.clock = fakes.clock
        self.mails = fakes.mails
        self.sms = fakes.sms
        self._proofs = fakes.proofs
        with app.app_context():
            service(Accounts).passwords.rounds = ROUNDS

    def account(
        self, name: str = "ada", /, *, password: str = PASSWORD, prefix: str = "", **fields: object
    ) -> Person:
        """Create an account: `account("ada", role="admin", nickname="The Countess")`.

        `prefix` is put in front of every path that their client requests.
        """
        return make_person(self.app, name, password=password, prefix=prefix, **fields)

    def api(self, prefix: str = "") -> Api:
        """Return a client without a token."""
        return Api(self.app, prefix)

    def workspace(self, slug: str, owner: Person, name: str = "") -> Workspace:
        """Create a workspace of this owner, for `/{slug}/…` or the header `X-Workspace`."""
        with self.app.app_context():
            account = service(Accounts).get(owner.email)
            return service(Workspaces).create(account, name or slug, slug).workspace

    def deliver(self) -> None:
        """Send the queued emails and SMS of notifications."""
        with self.app.app_context():
            service(Worker).drain()

    def last_code(self, email: str) -> str:
        """Return the short code of the newest password recovery."""
        return self._recovery(email).code

    def last_reset_token(self, email: str) -> str:
        return self._recovery(email).token

    def _recovery(self, email: str) -> IssuedProof:
        assert (RECOVERY, email) in self._proofs, f"{email} has asked for no password recovery"
        return self._proofs[RECOVERY, email]
