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
    """The fixture `frontdesk` of the pytest plugin: accounts, clients, sent messages and the clock.

    Attributes:
        app: The application.
        clock: The clock, which `clock.step(minutes=31)` moves forward.
        mails: Sent emails, a `MailOutbox`.
        sms: Sent SMS, an `SmsOutbox`.

    Example::

        def test_hello(frontdesk: Kit) -> None:
            ada = frontdesk.account("ada")
            assert ada.api().get("/hello").json == {"hello": "ada@example.com"}
    """

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
        """Create an account.

        Args:
            name: Email address, or its part before `@example.com`.
            password: Password of the account.
            prefix: Prefix of all paths that the account's client requests.
            fields: Role, status, and columns of your model.

        Returns:
            The account with its password.

        Example::

            ada = frontdesk.account("ada", role="admin", nickname="The Countess")
        """
        return make_person(self.app, name, password=password, prefix=prefix, **fields)

    def api(self, prefix: str = "") -> Api:
        """Return a client that is not signed in.

        Args:
            prefix: Prefix of all paths.

        Returns:
            The client.

        Example::

            frontdesk.api("/api").get("/account", 401)
        """
        return Api(self.app, prefix)

    def workspace(self, slug: str, owner: Person, name: str = "") -> Workspace:
        """Create a workspace.

        Args:
            slug: Slug of the workspace.
            owner: The account that becomes its owner.
            name: Name of the workspace. Default: the slug.

        Returns:
            The workspace.

        Example::

            team = frontdesk.workspace("team", owner=ada)
        """
        with self.app.app_context():
            account = service(Accounts).get(owner.email)
            return service(Workspaces).create(account, name or slug, slug).workspace

    def deliver(self) -> None:
        """Send the queued emails and SMS of notifications, as a worker does.

        Example::

            frontdesk.deliver()
            frontdesk.mails.assert_sent("ada@example.com", subject="Bob pinned a note")
        """
        with self.app.app_context():
            service(Worker).drain()

    def last_code(self, email: str) -> str:
        """Return the code of the newest password recovery.

        Args:
            email: Email address of the account.

        Returns:
            The code of eight digits.

        Example::

            code = frontdesk.last_code("ada@example.com")
        """
        return self._recovery(email).code

    def last_reset_token(self, email: str) -> str:
        """Return the token of the newest password recovery.

        Args:
            email: Email address of the account.

        Returns:
            The token of the emailed link.

        Example::

            token = frontdesk.last_reset_token("ada@example.com")
        """
        return self._recovery(email).token

    def _recovery(self, email: str) -> IssuedProof:
        assert (RECOVERY, email) in self._proofs, f"{email} has requested no password recovery"
        return self._proofs[RECOVERY, email]
