import logging
from collections.abc import Sequence
from typing import ClassVar

from ..accounts.errors import MissingValue, TooManyHashes
from ..core.errors import (
    REJECTED,
    REVOKED,
    BadGateway,
    BadRequest,
    Conflict,
    Forbidden,
    NotFound,
    Problem,
    TooManyRequests,
    Unauthorized,
)
from ..core.types import JsonObject, Values

log = logging.getLogger(__name__)

# The `acr` value of a sign-in with a second factor (OpenID Connect).
WITH_A_FACTOR = "mfa"

# The title of two codes with the same meaning.
_NOT_ACTIVE = "The account is not active"


class IncorrectCredentials(BadRequest):
    """No account has the email address, or the password is wrong."""

    code = "incorrect_credentials"
    detail = "Incorrect email or password"
    title = "The email address or the password is incorrect"
    cause = (
        "No account has this email address, or the password is wrong. The response does not say"
        " which."
    )
    fix = (
        "Correct the email address and the password, or reset the password with `POST"
        " /password-recovery`."
    )
    security_event = "sign_in"


class InactiveAccount(BadRequest):
    """The account is not active, at a sign-in or password reset."""

    code = "inactive_account"
    detail = "Inactive account"
    title = _NOT_ACTIVE
    anchor = "account_inactive"
    cause = (
        "The status of the account is not one of `AUTH__ACTIVE_STATUSES`, so the account cannot"
        " sign in or set a password."
    )
    fix = "Ask an administrator to activate the account."
    security_event = "sign_in"


class Unverified:
    """The common base of errors about an unverified email address."""

    code: ClassVar[str] = "email_not_verified"
    title: ClassVar[str] = "The email address is not verified"


class AwaitsVerification(Unverified, BadRequest):
    """Raised only after a correct password."""

    detail = "Inactive account"
    cause = (
        "The password is correct, but the account has not verified its email address since"
        " registration."
    )
    fix = (
        "Open the link in the verification email, or request a new email with"
        " `POST /email-verification/mail`."
    )
    security_event = "sign_in"


class AccountDeleting(InactiveAccount):
    """Raised only after a correct password."""

    code = "account_deleting"
    title = "The account is scheduled for deletion"
    cause = "The owner requested the deletion of the account, and the grace period has not ended."
    fix = "To keep the account, open the link in the email about the deletion."


# The problems of a sign-in to an account that is not active.
INACTIVE_PROBLEMS = (InactiveAccount, AwaitsVerification, AccountDeleting)


class InvalidProof(BadRequest):
    """The token or code is wrong, used or expired, or belongs to another account."""

    code = "invalid_token"
    detail = "Invalid token"
    title = "The token or code is not valid"
    cause = (
        "The token or code is wrong, expired, already used, replaced by a newer one, or belongs"
        " to another account. The response does not say which."
    )
    fix = "Request a new email, and use the newest token or code."
    security_event = "proof"


class PasskeyRefused(BadRequest):
    """An unknown, forged, used or expired passkey; only the log has the reason."""

    code = "passkey_refused"
    detail = "The passkey was rejected"
    title = "The passkey was rejected"
    cause = (
        "The passkey is unknown, its signature is invalid, or its challenge is expired or"
        " already used. The log has the reason."
    )
    fix = "Request new passkey options and try again, or use another sign-in method."
    security_event = "sign_in"

    def __init__(self, why: str, **note: object) -> None:
        super().__init__(note={"why": why, **note})


class InvalidCredentials(Unauthorized):
    code = "invalid_credentials"
    detail = "Could not validate credentials"
    title = "The credentials are not valid"
    cause = (
        "The access token or session cookie is missing, malformed, expired or revoked: `reason`"
        " says which."
    )
    fix = "Sign in again, or refresh the access token."
    reason = REJECTED

    def __init__(
        self, detail: str | None = None, *, reason: str = REJECTED, note: Values | None = None
    ) -> None:
        super().__init__(detail, note=note)
        self.reason = reason


class LoggedOut(Unauthorized):
    code = "token_expired"
    detail = "Token expired"
    title = "The access token is revoked"
    cause = "The account signed out after this access token was issued. `reason` is `revoked`."
    fix = "Sign in again."
    reason = REVOKED


class InactiveCaller(Unauthorized):
    code = "account_inactive"
    detail = "The account is inactive"
    title = _NOT_ACTIVE
    cause = "The status of the account that sent the request is not one of `AUTH__ACTIVE_STATUSES`."
    fix = "Ask an administrator to activate the account."
    reason = REJECTED


class NotAuthorized(Forbidden):
    code = "not_authorized"
    detail = "Not authorized"
    title = "The account is not authorized"
    cause = "The role of the account, or its role in the workspace, does not allow this request."
    fix = "Ask an administrator or an owner of the workspace for the required role."


class AccountRequired(Forbidden):
    """The caller is the token of a workspace, which has no account."""

    code = "account_required"
    detail = "This request needs an account"
    title = "The request needs an account"
    cause = "The token belongs to a workspace and not to an account."
    fix = "Use a personal token or sign in."


class InsufficientScope(Forbidden):
    """The credential lacks a scope that the route requires (RFC 6750)."""

    code = "insufficient_scope"
    detail = "The token does not have the required scope"
    title = "The scopes of the token are not sufficient"
    cause = (
        "The token has none of the scopes that the route requires, the route accepts no tokens with"
        " scopes, or the token is limited to a workspace and the route is outside of it. The header"
        " `WWW-Authenticate` has the required scopes."
    )
    fix = "Create a token with the required scopes, or sign in."

    def __init__(self, required: Sequence[str] = (), detail: str | None = None) -> None:
        named = f', scope="{" ".join(required)}"' if required else ""
        challenge = f'Bearer error="insufficient_scope"{named}'
        super().__init__(detail, headers={"WWW-Authenticate": challenge})


def _step_up(seconds: float | None, factors: int) -> JsonObject:
    """Return the challenge of RFC 9470: the maximum age of a sign-in and the required methods. The
    body has them too, for pages that cannot read the header."""
    asked: JsonObject = {} if seconds is None else {"max_age": int(seconds)}
    if factors > 1:
        asked["acr_values"] = WITH_A_FACTOR
    named = ", ".join(f'{name}="{value}"' for name, value in asked.items())
    challenge = f'Bearer error="insufficient_user_authentication", {named}'
    return {"headers": {"WWW-Authenticate": challenge}, "members": asked}


class FreshSignInRequired(Forbidden):
    """A recent sign-in, or the password in the same request, is required."""

    code = "fresh_sign_in_required"
    detail = "Sign in again first"
    title = "A recent sign-in is required"
    cause = "The last sign-in is older than `AUTH__FRESH_MINUTES`, and the request has no password."
    fix = "Sign in again, or send the account's `password` in the same request."

    def __init__(self, seconds: float = 900) -> None:
        super().__init__(**_step_up(seconds, 1))


class ReauthenticationRequired(Unauthorized):
    """A recent sign-in is required, with two factors if requested. Without seconds, a second factor
    of any age is required."""

    code = "reauthentication_required"
    detail = "Sign in again first"
    title = "Re-authentication is required"
    cause = (
        "The route requires a recent sign-in, or a sign-in with multi-factor authentication."
        " `max_age` and `acr_values` have the requirement."
    )
    fix = "Re-authenticate with `POST /reauthenticate`, then send the request again."

    def __init__(self, seconds: float | None = 900, factors: int = 1) -> None:
        super().__init__(**_step_up(seconds, factors))


class EmailRefused(Forbidden):
    code = "email_refused"
    detail = "This address cannot be used here"
    title = "The email address is not allowed"
    cause = "A hook of the application does not allow this email address."
    fix = "Use another email address."


class TooManyAttempts(TooManyRequests):
    """A rate limit on failed sign-ins, codes or emails is exceeded."""

    code = "too_many_attempts"
    # For the documentation: an error names its own time.
    detail = "Too many attempts. Try again in 5 minutes."
    title = "Too many failed attempts"
    cause = (
        "Too many wrong passwords, codes or emails in a short time: a rate limit of the `AUTH`"
        " settings is exceeded."
    )
    fix = (
        "Wait for the number of seconds in `Retry-After`. Administrators unlock an account with"
        " `POST /admin/accounts/{account_id}/unlock`."
    )

    def __init__(self, retry_after: int, *, note: Values | None = None) -> None:
        super().__init__(retry_after, note=note)
        # An application's subclass has its own detail.
        if self.detail == TooManyAttempts.detail:
            self.detail = f"Too many attempts. Try again in {_duration(max(1, retry_after))}."


_UNITS = ((3600, "hour"), (60, "minute"), (1, "second"))


def _duration(seconds: int) -> str:
    """Return a time in words, rounded up, so that a client who waits this long is not rejected."""
    size, unit = next(each for each in _UNITS if seconds >= each[0])
    amount = -(-seconds // size)
    return f"{amount} {unit}{'s' if amount > 1 else ''}"


# The problems of routes that require a recent sign-in or the password.
FRESHNESS_PROBLEMS = (
    IncorrectCredentials,
    TooManyAttempts,
    TooManyHashes,
    FreshSignInRequired,
    ReauthenticationRequired,
)


class IdpDisabled(Forbidden):
    code = "idp_disabled"
    detail = "Sign-in through an identity provider is disabled"
    title = "Sign-in with an identity provider is disabled"
    cause = "`AUTH__ENABLE_IDP_OAUTH` is off."
    fix = "Use another sign-in method. Operators enable it with `AUTH__ENABLE_IDP_OAUTH=true`."
    security_event = ""


class ProviderNotFound(NotFound):
    code = "provider_not_found"
    detail = "Identity provider not found"
    title = "No identity provider has this name"
    cause = "The path names an identity provider that is not in `AUTH__PROVIDERS`."
    fix = "Use a name from `GET /idp/providers`."


class UnknownSignIn(BadRequest):
    """The sign-in is expired or finished, or was started in another browser, with another URI or
    at another provider."""

    code = "unknown_sign_in"
    detail = "This sign-in was not started in this browser"
    title = "The sign-in is unknown"
    cause = (
        "The sign-in was started in another browser, is too old, is already finished, or was"
        " started with another `redirect_uri` or identity provider. A link that an owner has"
        " started was finished without the credentials of the account."
    )
    fix = "Start again, in the same browser, with cookies and for a link with the credentials."
    security_event = "sign_in"


class SignInRefused(BadRequest):
    """The provider rejects the code, or its ID token is invalid."""

    code = "sign_in_refused"
    detail = "The sign-in was rejected"
    title = "The identity provider's response was rejected"
    cause = (
        "The identity provider rejected the authorization code, or its ID token is not valid."
        " The log has the reason."
    )
    fix = "Start again with `GET /idp/login`."
    security_event = "sign_in"


class InvalidLogoutToken(BadRequest):
    """The logout token of an identity provider is not valid, or was used before."""

    code = "invalid_request"
    detail = "The logout token is not valid"
    title = "The logout token is not valid"
    cause = (
        "The logout token is missing, has an invalid signature or a wrong claim, is older than five"
        " minutes, or was used before. The log has the reason."
    )
    fix = "Send a new logout token of the identity provider in the path."
    security_event = "credential"

    def __init__(self) -> None:
        # OpenID Connect Back-Channel Logout 1.0, section 2.8.
        super().__init__(members={"error": self.code})


class EmailNotVerified(Unverified, BadRequest):
    detail = "The identity provider has not verified the email"
    cause = "The identity provider does not confirm that the email address is verified."
    fix = "Verify the email address at the identity provider, then sign in again."
    security_event = "sign_in"


class AmbiguousEmail(BadRequest):
    """The address has characters that look like, or that software treats as, other characters."""

    code = "ambiguous_email"
    detail = "The email address contains look-alike characters"
    title = "The email address is ambiguous"
    cause = (
        "The email address from the identity provider contains characters that look like other"
        " characters."
    )
    fix = (
        "Use an email address with ASCII characters at the identity provider, or ask an"
        " administrator."
    )
    security_event = "sign_in"


class LinkedToAnother(BadRequest):
    """The account is linked to another identity: an email address can pass to another person."""

    code = "linked_to_another"
    detail = "The account is linked to another identity of this provider"
    title = "The account is linked to another identity"
    cause = (
        "The account with this email address, or the signed-in account, is linked to another user"
        " of the same identity provider."
    )
    fix = (
        "Sign in with the identity that the account is linked to. Owners remove an identity with"
        " `DELETE /account/identities/{identity_id}`."
    )
    security_event = "sign_in"


class EmailCodeRequired(Forbidden):
    """A new user must enter a code from an email; `members` has the `login_id`."""

    code = "email_code_required"
    detail = "Enter the code from the email"
    title = "The email address must be verified with a code"
    cause = (
        "The user of the identity provider is unknown, and the provider did not mark the email"
        " address as verified. Frontdesk has sent a code to this address."
    )
    fix = "Send `login_id` and the code to `POST /idp/{provider}/verify`."
    security_event = "sign_in"


class IdentityTaken(Conflict):
    """Another account is linked to the user whom the caller wants to link."""

    code = "identity_taken"
    detail = "Another account is linked to this identity"
    title = "Another account is linked to the identity"
    cause = "The user of the identity provider signs in to another account."
    fix = "Unlink the identity from the other account, or use another user of the provider."
    security_event = "sign_in"


class LinkConfirmationRequired(Forbidden):
    """The account's owner must confirm the link; `members` has the `link_token`."""

    code = "link_confirmation_required"
    detail = "Sign in to the account to link this identity"
    title = "The owner must confirm the link"
    cause = (
        "An account has the email address from the identity provider, and `AUTH__IDP_LINKING` is"
        " `confirm`."
    )
    fix = (
        "Sign in to the account in another way, then send `link_token` to"
        " `POST /account/identities/confirm` within ten minutes."
    )
    security_event = "sign_in"


class LinkRefused(BadRequest):
    code = "link_refused"
    detail = "The account is not linked to this identity"
    title = "The account is not linked to the identity"
    cause = (
        "An account has the email address from the identity provider, and `AUTH__IDP_LINKING` is"
        " `never`."
    )
    fix = "Sign in to the account in another way."
    security_event = "sign_in"


class SignUpClosed(BadRequest):
    code = "no_account"
    detail = "No account has this email"
    title = "No account has this email address"
    cause = (
        "No account has the email address from the identity provider, and sign-up through the"
        " provider is not allowed."
    )
    fix = (
        "Ask an administrator for an account. Operators allow sign-up with"
        " `AUTH__ALLOW_IDP_OAUTH_SIGNUP`."
    )
    security_event = "sign_in"


class NoAccountCreated(Problem):
    code = "no_account_created"
    detail = "No account could be created"
    title = "The account could not be created"
    cause = (
        "Sign-up through the identity provider is allowed, but no listener of the event"
        " `idp-account-create` created an account."
    )
    fix = "Developers register a listener for the event `idp-account-create`."
    security_event = "sign_in"


class SignUpNeeded(Forbidden):
    """The application requires a value in new accounts that this sign-in does not ask for."""

    code = "sign_up_needed"
    detail = "This sign-in method cannot create an account"
    title = "The account must be created in another way"
    cause = (
        "A required column of the application's accounts has no value. The log names the column."
    )
    fix = "Register, or ask an administrator for an account. Developers set the column."
    security_event = "sign_in"

    def __init__(self, missing: MissingValue) -> None:
        super().__init__()
        log.error(
            "A sign-up failed: the account model requires a value in the column %s. Set it in a"
            " listener of `idp-account-create`, or give the column a default.",
            ", ".join(fault.field for fault in missing.faults),
        )


class ProviderUnavailable(BadGateway):
    """The provider is unreachable, slow or responds with invalid data; the log says which."""

    code = "provider_unavailable"
    detail = "The identity provider returned an invalid response"
    title = "The identity provider is unavailable"
    cause = (
        "The identity provider is unreachable, slow, or returned an invalid response. The log"
        " has the reason."
    )
    fix = "Try again later, or use another sign-in method."

    def __init__(self) -> None:
        super().__init__(headers={"Retry-After": "1"})


# The problems of linking or creating an account for a new user of an identity provider.
LINKING_PROBLEMS = (
    *(LinkedToAnother, LinkConfirmationRequired, LinkRefused),
    *(AccountDeleting, SignUpClosed, SignUpNeeded, InactiveAccount, NoAccountCreated),
)
# The problems of a sign-in through an identity provider.
PROVIDER_PROBLEMS = (
    *(UnknownSignIn, SignInRefused, EmailNotVerified, AmbiguousEmail),
    *(*LINKING_PROBLEMS, ProviderUnavailable),
)
