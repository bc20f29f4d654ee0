from dataclasses import dataclass
from typing import Any

from flask import Flask

from ..accounts.service import Accounts
from ..auth.proof_names import PASSWORD as BY_PASSWORD
from ..auth.sign_in.policy import SignInPolicy, SignInResult
from ..core.context import service
from .client import Api

PASSWORD = "plum tractor violin"


@dataclass
class Person:
    """An account with its password, to send requests as its owner.

    Attributes:
        app: The application.
        id: Id of the account.
        email: Email address.
        password: Password.
        prefix: Prefix of all paths that the account's client requests.
    """

    app: Flask
    id: Any
    email: str
    password: str = PASSWORD
    prefix: str = ""

    def token(self) -> str:
        """Sign in, by the login route or, if it is not mounted, without it.

        Returns:
            The access token.

        Example::

            headers = {"Authorization": f"Bearer {ada.token()}"}
        """
        url = _login_url(self.app)
        if url is None:
            with self.app.app_context():
                outcome = service(SignInPolicy).admit(self._account(), by=(BY_PASSWORD,))
                assert isinstance(outcome, SignInResult), outcome
                return str(outcome.payload["access_token"])
        form = {"username": self.email, "password": self.password}
        return str(Api(self.app, "").post(url, data=form).json["access_token"])

    def api(self) -> Api:
        """Sign in, and return a client that sends the token with every request.

        Returns:
            The client.

        Example::

            ada.api().get("/hello")
        """
        return Api(self.app, self.prefix, self.token())

    def change(self, **fields: Any) -> None:
        """Change the account. A new email address or password revokes every token.

        Args:
            fields: Arguments of `Accounts.change`.

        Example::

            ada.change(status="suspended")
        """
        with self.app.app_context():
            changed = service(Accounts).change(self._account(), **fields)
            self.email = changed.email
        self.password = fields.get("password") or self.password

    def _account(self) -> Any:
        return service(Accounts).get(self.email)


def make_person(
    app: Flask, name: str, /, *, password: str = PASSWORD, prefix: str = "", **fields: Any
) -> Person:
    """Create an account for `name@example.com`, or for the given address."""
    email = name if "@" in name else f"{name}@example.com"
    with app.app_context():
        account = service(Accounts).create(email, password, **fields)
        return Person(app, account.id, account.email, password, prefix)


def _login_url(app: Flask) -> str | None:
    for rule in app.url_map.iter_rules():
        view = app.view_functions[rule.endpoint]
        if rule.endpoint.endswith(".login") and view.__module__.endswith("auth.routes"):
            return str(rule.rule)
    return None
