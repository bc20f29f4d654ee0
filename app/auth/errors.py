from __future__ import annotations

from ..core.errors import BadGateway, BadRequest, Forbidden, Problem, TooManyRequests, Unauthorized
from ..core.types import JsonObject

# Of a sign-in by which a second factor was shown, in the words of OpenID Connect's `acr`.
WITH_A_FACTOR = "mfa"


class IncorrectCredentials(BadRequest):
    code = "incorrect_credentials"
    detail = "Incorrect email or password"
    security_event = "sign_in"


class InactiveAccount(BadRequest):
    """Refused where it would sign in or set a password; a caller's is `InactiveCaller`."""

    code = "inactive_account"
    detail = "Inactive account"
    security_event = "sign_in"


class AwaitsVerification(BadRequest):
    """Told only to who has the right password."""

    code = "email_not_verified"
    detail = "Inactive account"
    security_event = "sign_in"


class AccountDeleting(InactiveAccount):
    """Told only to who has the right password."""

    code = "account_deleting"


class InvalidProof(BadRequest):
    """Wrong, used, expired or of another account: the response does not say which."""

    code = "invalid_token"
    detail = "Invalid token"
    security_event = "proof"


class PasskeyRefused(BadRequest):
    """Unknown, wrongly signed, for another site, used, too old …: the log alone says which."""

    code = "passkey_refused"
    detail = "The passkey was refused"
    security_event = "sign_in"

    def __init__(self, why: str, **note: object) -> None:
        super().__init__(note={"why": why, **note})


class InvalidCredentials(Unauthorized):
    code = "invalid_credentials"
    detail = "Could not validate credentials"


class LoggedOut(Unauthorized):
    code = "token_expired"
    detail = "Token expired"


class InactiveCaller(Unauthorized):
    code = "account_inactive"
    detail = "The account is inactive"


class NotAuthorized(Forbidden):
    code = "not_authorized"
    detail = "Not authorized"


def _step_up(seconds: float | None, factors: int) -> JsonObject:
    """As RFC 9470 says it: how old a sign-in may be, and what it must have been by. The document
    tells it too, for pages that may not read the header."""
    asked: JsonObject = {} if seconds is None else {"max_age": int(seconds)}
    if factors > 1:
        asked["acr_values"] = WITH_A_FACTOR
    named = ", ".join(f'{name}="{value}"' for name, value in asked.items())
    challenge = f'Bearer error="insufficient_user_authentication", {named}'
    return {"headers": {"WWW-Authenticate": challenge}, "members": asked}


class FreshSignInRequired(Forbidden):
    """Or the password, in the same request."""

    code = "fresh_sign_in_required"
    detail = "Sign in again first"

    def __init__(self, seconds: float = 900) -> None:
        super().__init__(**_step_up(seconds, 1))


class ReauthenticationRequired(Unauthorized):
    """A sign-in of the last minutes, where asked for with a second factor in that time. Without
    seconds: one with a second factor, however long ago."""

    code = "reauthentication_required"
    detail = "Sign in again first"

    def __init__(self, seconds: float | None = 900, factors: int = 1) -> None:
        super().__init__(**_step_up(seconds, factors))


class EmailRefused(Forbidden):
    code = "email_refused"
    detail = "This address cannot be used here"


class TooManyAttempts(TooManyRequests):
    code = "too_many_attempts"
    detail = "Too many attempts"


class IdpDisabled(Forbidden):
    code = "idp_disabled"
    detail = "Sign-in through an identity provider is disabled"
    security_event = ""


class UnknownSignIn(BadRequest):
    """Another browser's, an old one, one already finished, or one with another redirect URI."""

    code = "unknown_sign_in"
    detail = "This sign-in was not begun here"
    security_event = "sign_in"


class SignInRefused(BadRequest):
    """The provider refuses the code, or its ID token is not to be trusted."""

    code = "sign_in_refused"
    detail = "The sign-in was refused"
    security_event = "sign_in"


class EmailNotVerified(BadRequest):
    code = "email_not_verified"
    detail = "The identity provider has not verified the email"
    security_event = "sign_in"


class AmbiguousEmail(BadRequest):
    """Some letters of it are others' look-alikes, which more or less strict folding makes equal."""

    code = "ambiguous_email"
    detail = "The email could be taken for another one"
    security_event = "sign_in"


class LinkedToAnother(BadRequest):
    """An email address can get another owner; a linked account keeps its person."""

    code = "linked_to_another"
    detail = "The account is linked to another identity of this provider"
    security_event = "sign_in"


class SignUpClosed(BadRequest):
    code = "no_account"
    detail = "No account has this email"
    security_event = "sign_in"


class NoAccountCreated(Problem):
    code = "no_account_created"
    detail = "No account could be created"
    security_event = "sign_in"


class ProviderUnavailable(BadGateway):
    """The provider is unreachable, slow or responds with invalid data; the log says which."""

    code = "provider_unavailable"
    detail = "The identity provider did not answer as expected"

    def __init__(self) -> None:
        super().__init__(headers={"Retry-After": "1"})
