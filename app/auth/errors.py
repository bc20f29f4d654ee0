from __future__ import annotations

from ..core.errors import BadGateway, BadRequest, Forbidden, Problem, TooManyRequests, Unauthorized


class IncorrectCredentials(BadRequest):
    code = "incorrect_credentials"
    detail = "Incorrect email or password"


class InactiveAccount(BadRequest):
    code = "inactive_account"
    detail = "Inactive account"


class InvalidResetToken(BadRequest):
    """Wrong, used, ended, expired, or another account's: the answer does not tell which."""

    code = "invalid_token"
    detail = "Invalid token"


class InvalidCredentials(Unauthorized):
    code = "invalid_credentials"
    detail = "Could not validate credentials"


class TokenExpired(Unauthorized):
    code = "token_expired"
    detail = "Token expired"


class AccountInactive(Unauthorized):
    code = "account_inactive"
    detail = "The account is inactive"


class NotAuthorized(Forbidden):
    code = "not_authorized"
    detail = "Not authorized"


class TooManyAttempts(TooManyRequests):
    code = "too_many_attempts"
    detail = "Too many attempts"


class IdpDisabled(Forbidden):
    code = "idp_disabled"
    detail = "Sign-in through an identity provider is disabled"


class UnknownSignIn(BadRequest):
    """Another browser's, an old one, one already finished, or one with another redirect URI."""

    code = "unknown_sign_in"
    detail = "This sign-in was not begun here"


class SignInRefused(BadRequest):
    """The provider refuses the code, or its ID token is not to be trusted."""

    code = "sign_in_refused"
    detail = "The sign-in was refused"


class EmailNotVerified(BadRequest):
    code = "email_not_verified"
    detail = "The identity provider has not verified the email"


class SignUpClosed(BadRequest):
    code = "no_account"
    detail = "No account has this email"


class NoAccountCreated(Problem):
    code = "no_account_created"
    detail = "No account could be created"


class ProviderUnavailable(BadGateway):
    """Out of reach, slow, or talking nonsense; the log says which."""

    code = "provider_unavailable"
    detail = "The identity provider did not answer as expected"

    def __init__(self) -> None:
        super().__init__(headers={"Retry-After": "1"})
