"""Sign-in, sign-out and the current account, for the application's code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, cast

from flask import Request
from typing_extensions import TypeVar

from ..auth.caller import Callers, current_account, known_account, with_account
from ..auth.proof_names import HOST
from ..core.context import find_context
from ..core.types import JsonObject, Values
from . import application_sign_in

if TYPE_CHECKING:
    from .authenticators import CallerAuthenticators
    from .own_sessions import CallerSessions

# The application's account class: `Frontdesk[Account]()`.
A = TypeVar("A", default=Any)


class SigningIn(Generic[A]):
    @property
    def current_account(self) -> A:
        """The caller's account, typed as your model, in a view with an authentication decorator.

        Example::

            @app.get("/me")
            @active_account_required
            def me():
                return {"email": frontdesk.current_account.email}
        """
        return cast(A, current_account)

    @property
    def current_account_or_none(self) -> A | None:
        """The caller's account, or None for an anonymous request.

        Use it in a view with `@account_optional`, or in a template.

        Example::

            account = frontdesk.current_account_or_none
            name = account.email if account else "guest"
        """
        return cast("A | None", known_account())

    def verify_password(self, account: A | str, password: str) -> A:
        """Return the account if the password is correct.

        The rate limits of the login route apply. The status of the account is not checked.

        Args:
            account: The account, or its email address.
            password: The password.

        Returns:
            The account.

        Raises:
            IncorrectCredentials: There is no such account, or the password is wrong.
            TooManyAttempts: A rate limit is exceeded.
            TooManyHashes: Too many sign-ins are checked at the same time.

        Example::

            account = frontdesk.verify_password(form["email"], form["password"])
            return frontdesk.sign_in(account, how="password")
        """
        return cast(A, application_sign_in.verify_password(account, password))

    def sign_in(
        self,
        account: A,
        *,
        how: str | Sequence[str] = HOST,
        by_cookie: bool = False,
        otp: str | None = None,
        trusted_device: str | None = None,
    ) -> JsonObject:
        """Sign in an account after your code has authenticated its owner.

        Args:
            account: The account.
            how: How the owner authenticated, such as `password` or `magic link`; several in their
                order.
            by_cookie: Set the session cookie in the response, as `POST /session` does, instead of
                returning an access token.
            otp: Code of an authenticator app, if the account uses MFA.
            trusted_device: Secret of a trusted device, instead of a code.

        Returns:
            The response of the login route, with `access_token` unless `by_cookie` is set.

        Raises:
            InactiveAccount: The account is not active.
            SecondFactorRequired: The account uses MFA, and there is no valid `otp` or
                `trusted_device`.
            EnrolmentRequired: The account must set up MFA first.
            CrossSite: `by_cookie` is set, and another site's page sent the request.

        Example::

            @app.post("/magic-link")
            def magic_link():
                account = account_of_link(request.form["token"])
                return frontdesk.sign_in(account, how="magic link")
        """
        by = (how,) if isinstance(how, str) else tuple(how)
        return application_sign_in.sign_in(account, by, by_cookie, otp, trusted_device)

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
        """Finish a sign-in with multi-factor authentication, as `POST /login/mfa` does.

        Give one of `otp`, `recovery_code` and `credential`.

        Args:
            mfa_token: The token from `SecondFactorRequired.members`.
            otp: Code of an authenticator app.
            recovery_code: An unused recovery code.
            credential: Passkey assertion from the browser.
            trust: Trust the device. With `AUTH.MFA_TRUST_DAYS` above 0, the result has
                `trusted_device`: store it on the device for `sign_in(trusted_device=…)`.
            by_cookie: Set the session cookie instead of returning an access token.

        Returns:
            The same as `sign_in`.

        Raises:
            WrongFactor: The code or passkey is wrong.
            InvalidProof: `mfa_token` is expired or used.
            TooManyAttempts: A rate limit is exceeded.

        Example::

            try:
                return frontdesk.sign_in(account, how="password")
            except SecondFactorRequired as required:
                token = required.members["mfa_token"]
            return frontdesk.finish_sign_in(token, otp=ask_for_code())
        """
        factors = {"otp": otp, "recovery_code": recovery_code, "credential": credential}
        return application_sign_in.finish_sign_in(mfa_token, factors, trust, by_cookie)

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
        """Re-authenticate the caller (step-up), as `POST /reauthenticate` does.

        Use it in a view with an authentication decorator. Give one of the proofs.

        Args:
            password: The account's password.
            otp: Code of an authenticator app.
            recovery_code: An unused recovery code.
            credential: Passkey assertion from the browser.
            code: One-time code from an email.
            login_id: Identifier of the one-time code; required with `code`.

        Returns:
            The same as `sign_in`: a new access token, or no token for a caller with a
            cookie, which is replaced.

        Raises:
            IncorrectCredentials: The password is wrong.
            WrongFactor: The code or passkey is wrong.
            ReauthenticationRequired: The account must re-authenticate with MFA.
            TooManyAttempts: A rate limit is exceeded.

        Example::

            frontdesk.reauthenticate(password=request.form["password"])
        """
        proofs = {
            "password": password,
            "otp": otp,
            "recovery_code": recovery_code,
            "credential": credential,
            "code": code,
        }
        return application_sign_in.reauthenticate(proofs, login_id)

    @property
    def sessions(self) -> CallerSessions:
        """The sessions of the caller's account: list and end them.

        Example::

            frontdesk.sessions.end_all(others=True)
        """
        # Imported here, because most applications store no sessions.
        from .own_sessions import CallerSessions

        return CallerSessions()

    @property
    def authenticators(self) -> CallerAuthenticators:
        """The MFA methods of the caller's account: set up, list and remove them.

        Example::

            setup = frontdesk.authenticators.begin_app("Phone")
        """
        from .authenticators import CallerAuthenticators

        return CallerAuthenticators()

    def sign_out(self, account: A) -> None:
        """Revoke all access tokens of an account until its next sign-in, as the logout route does.

        Args:
            account: The account.

        Example::

            frontdesk.sign_out(frontdesk.current_account)
        """
        application_sign_in.sign_out(account)

    def sign_out_here(self) -> None:
        """End the cookie session of the current request, as `DELETE /session` does.

        Example::

            @app.post("/leave")
            def leave():
                frontdesk.sign_out_here()
                return redirect("/")
        """
        application_sign_in.sign_out_here()

    def account_of(self, request: Request) -> A | None:
        """Return the account that a request is authenticated as.

        Args:
            request: The request.

        Returns:
            The account, or None for a request without credentials.

        Raises:
            InvalidCredentials: The token is invalid or expired.
            Problem: With the code `insufficient_scope`, unless the view names the token's scopes.

        Example::

            @login_manager.request_loader
            def load_from_token(request):
                return frontdesk.account_of(request)
        """
        found = find_context().get(Callers).find(request, optional=False)
        return None if found is None else cast(A, with_account(found).attached_account)
