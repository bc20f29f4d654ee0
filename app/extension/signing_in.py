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

# The application's account class: `Frontdesk[Account]()`.
A = TypeVar("A", default=Any)


class SigningIn(Generic[A]):
    @property
    def current_account(self) -> A:
        """The caller's account, below an authentication decorator."""
        return cast(A, current_account)

    @property
    def current_account_or_none(self) -> A | None:
        """The caller's account or None: below `@account_optional`, or in a template."""
        return cast("A | None", known_account())

    def verify_password(self, account: A | str, password: str) -> A:
        """Check the password of an account, an object or an email address; return the account.

        The rate limits of the login route apply. The account's status is not checked. Raises
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
        """Sign in an account that your code has authenticated; return the login route's response.

        `how` names the methods: "password", "magic link", or several in order. Raises
        `InactiveAccount`; `SecondFactorRequired` if the account has a second factor and neither a
        valid `otp` (a code of an authenticator app) nor `trusted_device` is given; and
        `EnrolmentRequired` if it must set one up.

        `by_cookie`: the response to this request sets the cookie of `POST /session`, and the result
        has no token. Raises `CrossSite` for a request from a page of another site.
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

        Raises `WrongFactor`, `InvalidProof` if the token is expired or used, and
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
        for a caller with a cookie, which is replaced.

        Raises `IncorrectCredentials` or `WrongFactor`, `ReauthenticationRequired` if a second
        factor is required, and `TooManyAttempts`.
        """
        proofs = {
            "password": password,
            "otp": otp,
            "recovery_code": recovery_code,
            "credential": credential,
            "code": code,
        }
        return application_api.reauthenticate(proofs, login_id)

    @property
    def sessions(self) -> CallerSessions:
        """The sessions of the caller's account: list them, end them."""
        # Imported here, because most applications store no sessions.
        from ..auth.sessions.application_api import CallerSessions

        return CallerSessions()

    @property
    def authenticators(self) -> CallerAuthenticators:
        """The authenticators of the caller's account: set up, list, remove."""
        from ..auth.mfa.by_host import CallerAuthenticators

        return CallerAuthenticators()

    def sign_out(self, account: A) -> None:
        """Invalidate all tokens of the account until it signs in again, as the logout route."""
        application_api.sign_out(account)

    def sign_out_here(self) -> None:
        """End the session of this request's cookie, as `DELETE /session` does."""
        application_api.sign_out_here()

    def account_of(self, request: Request) -> A | None:
        """Return the account of the request's token, or None; raise if the token is invalid."""
        found = find_context().get(Callers).find(request, optional=False)
        return None if found is None else cast(A, found.attached_account)
