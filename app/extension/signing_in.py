"""Who is there, and who comes and goes, for the host's own code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, cast

from flask import Request
from typing_extensions import TypeVar

from ..auth.caller import Callers, current_account, known_account
from ..auth.sign_in import by_host
from ..auth.sign_in.proof import HOST
from ..core.context import find_context

# The host's own class of an account: `Frontdesk[Account]()`.
A = TypeVar("A", default=Any)


class SigningIn(Generic[A]):
    @property
    def current_account(self) -> A:
        """The caller's account, where a guard has looked who is calling."""
        return cast(A, current_account)

    @property
    def current_account_or_none(self) -> A | None:
        """The same where nobody need be there: below `@account_optional`, or in a template."""
        return cast("A | None", known_account())

    def verify_password(self, account: A | str, password: str) -> A:
        """The account, given as itself or by its e-mail, whose password it is.

        Within the limits of the login route, and whatever the account's status. Raises
        `IncorrectCredentials`, `TooManyAttempts` or `TooManyHashes`.
        """
        return cast(A, by_host.verify_password(account, password))

    def sign_in(
        self, account: A, *, how: str | Sequence[str] = HOST, by_cookie: bool = False
    ) -> dict[str, Any]:
        """Sign in whoever has shown who it is, and return what the login route would answer.

        `how` tells the gate by what: "password", "magic link", several in their order. Raises
        `InactiveAccount`, or whatever the gate asks for besides.

        `by_cookie`: the answer to this request sets the cookie that `POST /session` sets, and there
        is no token in what is returned. Raises `CrossSite` where another site's page has asked.
        """
        by = (how,) if isinstance(how, str) else tuple(how)
        return by_host.sign_in(account, by, by_cookie)

    def sign_out(self, account: A) -> None:
        """End every token of the account until it signs in again, as the logout route does."""
        by_host.sign_out(account)

    def sign_out_here(self) -> None:
        """End the session whose cookie this request brings, as `DELETE /session` does."""
        by_host.sign_out_here()

    def account_of(self, request: Request) -> A | None:
        """Whose token a request carries; None where it carries none. A bad one is refused."""
        found = find_context().get(Callers).find(request)
        return None if found is None else cast(A, found.attached_account)
