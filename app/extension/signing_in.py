"""Sign-in, sign-out and the current account, for the application's code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, cast

from flask import Request
from typing_extensions import TypeVar

from ..auth.caller import Callers, current_account, known_account
from ..auth.sign_in import application_api
from ..auth.sign_in.options import HOST
from ..core.context import find_context
from ..core.types import JsonObject, Values

if TYPE_CHECKING:
    from ..auth.mfa.by_host import CallerAuthenticators
    from ..auth.sessions.application_api import CallerSessions

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
        return cast(A, application_api.verify_password(account, password))

    def sign_in(
        self,
        account: A,
        *,
        how: str | Sequence[str] = HOST,
        by_cookie: bool = False,
        otp: str | None = None,
        trusted_device: str | None = None,
    ) -> JsonObject:
        """Sign in whoever has shown who it is, and return what the login route would answer.

        `how` tells the gate by what: "password", "magic link", several in their order. Raises
        `InactiveAccount`; `SecondFactorRequired` where the account has a second factor and neither
        `otp` (a code of an authenticator app) nor `trusted_device` is given and right; and
        `EnrolmentRequired` where it must set one up.

        `by_cookie`: the answer to this request sets the cookie that `POST /session` sets, and there
        is no token in what is returned. Raises `CrossSite` where another site's page has asked.
        """
        by = (how,) if isinstance(how, str) else tuple(how)
        return application_api.sign_in(account, by, by_cookie, otp, trusted_device)

    def finish_sign_in(
        self,
        mfa_token: str,
        *,
        otp: str | None = None,
        recovery_code: str | None = None,
        credential: Values | None = None,
        trust: bool = False,
        by_cookie: bool = False,
    ) -> JsonObject:
        """Finish a sign-in with a second factor, as `POST /login/mfa` does.

        `mfa_token` is that of `SecondFactorRequired.members`. Give one of `otp`, `recovery_code`
        and `credential` (of a passkey). Returns what `sign_in` returns. With `trust`, and
        `AUTH.MFA_TRUST_DAYS` over 0, the result has `trusted_device`: keep it on the device for
        `sign_in(trusted_device=…)`.

        Raises `WrongFactor`, `InvalidProof` where the token has expired or is used, and
        `TooManyAttempts`.
        """
        factors = {"otp": otp, "recovery_code": recovery_code, "credential": credential}
        return application_api.finish_sign_in(mfa_token, factors, trust, by_cookie)

    def reauthenticate(
        self,
        *,
        password: str | None = None,
        otp: str | None = None,
        recovery_code: str | None = None,
        credential: Values | None = None,
        code: str | None = None,
        login_id: str | None = None,
    ) -> JsonObject:
        """Make the sign-in of the caller recent again (step-up), as `POST /reauthenticate` does.

        For a view below an authentication decorator. Give one of the proofs; `login_id` belongs to
        a `code` that was sent by email. Returns what `sign_in` returns: a new token, or no token
        for a caller with a cookie, whose cookie is replaced.

        Raises `IncorrectCredentials` or `WrongFactor`, `ReauthenticationRequired` where it must be
        a second factor, and `TooManyAttempts`.
        """
        ways = {
            "password": password,
            "otp": otp,
            "recovery_code": recovery_code,
            "credential": credential,
            "code": code,
        }
        return application_api.reauthenticate(ways, login_id)

    @property
    def sessions(self) -> CallerSessions:
        """The sessions of the caller's account: list them, end them."""
        # For its weight: most applications store none.
        from ..auth.sessions.application_api import CallerSessions

        return CallerSessions()

    @property
    def authenticators(self) -> CallerAuthenticators:
        """The authenticators of the caller's account: set up, list, remove."""
        from ..auth.mfa.by_host import CallerAuthenticators

        return CallerAuthenticators()

    def sign_out(self, account: A) -> None:
        """End every token of the account until it signs in again, as the logout route does."""
        application_api.sign_out(account)

    def sign_out_here(self) -> None:
        """End the session whose cookie this request brings, as `DELETE /session` does."""
        application_api.sign_out_here()

    def account_of(self, request: Request) -> A | None:
        """Whose token a request carries; None where it carries none. A bad one is refused."""
        found = find_context().get(Callers).find(request, optional=False)
        return None if found is None else cast(A, found.attached_account)
