from ...core.errors import (
    BadRequest,
    Conflict,
    FeatureOff,
    Forbidden,
    NotFound,
    QuotaReached,
    Unavailable,
)
from ..errors import Unverified


class SecondFactorRequired(Forbidden):
    """The account uses MFA. `members` has its `methods`, and an `mfa_token` for
    `Frontdesk.finish_sign_in` and `POST /login/mfa`."""

    code = "mfa_required"
    detail = "A second factor is required"
    title = "Multi-factor authentication is required"
    cause = (
        "The first step of the sign-in succeeded, and the account uses multi-factor"
        " authentication (MFA)."
    )
    fix = "Send `mfa_token` with a code of one of the `methods` to `POST /login/mfa`."
    # Not a security event: the sign-in continues.
    security_event = ""


class EnrolmentRequired(Forbidden):
    """The account must use MFA, and has no second factor. `members` has an `mfa_token` that can
    only set up one of `methods`."""

    code = "mfa_enrolment_required"
    detail = "A second factor must be set up"
    title = "Multi-factor authentication must be set up"
    cause = "The account must use multi-factor authentication (MFA) and has not set up a method."
    fix = "Set up one of the `methods`, with `mfa_token` as bearer token, then sign in again."
    security_event = ""


class WrongFactor(BadRequest):
    """The factor is wrong, was used before, or belongs to another account."""

    code = "incorrect_code"
    detail = "Incorrect code"
    title = "The code is incorrect"
    cause = "The code is wrong, expired, or already used."
    fix = "Send the current code of the authenticator app, or an unused recovery code."
    security_event = "sign_in"


class SecretUnreadable(Unavailable):
    """The log names the authenticator and the reason."""

    code = "secret_unreadable"
    detail = "The authenticator cannot be checked; a recovery code can"
    title = "The authenticator app cannot be checked"
    cause = (
        "The stored secret of the authenticator app cannot be decrypted: a key is missing in"
        " `AUTH__ENCRYPTION_KEYS`."
    )
    fix = "Sign in with a recovery code. Operators restore the missing key."


def method_off() -> FeatureOff:
    """Return the error for an authenticator that is not one of the MFA methods."""
    return FeatureOff(note={"setting": "AUTH__MFA_METHODS"})


class UnprovenAddress(Unverified, Forbidden):
    """Enrollment with an unverified address could lock the owner of that address out."""

    detail = "Verify the email first"
    cause = (
        "The account has not verified its email address, which is required to set up"
        " multi-factor authentication."
    )
    fix = "Verify the email address first, then set up the method."


class AuthenticatorNotFound(NotFound):
    code = "authenticator_not_found"
    detail = "Authenticator not found"
    title = "The authenticator app does not exist"
    cause = "The account has no authenticator app with this id."
    fix = "List the methods of the account with `GET /authenticators`."


class TrustedDeviceNotFound(NotFound):
    code = "trusted_device_not_found"
    detail = "Trusted device not found"
    title = "The trusted device does not exist"
    cause = "The account has no trusted device with this id."
    fix = "List the trusted devices with `GET /trusted-devices`."


class TooManyAuthenticators(QuotaReached):
    detail = "The account has as many authenticators as it may have"
    cause = "The account has the maximum number of authenticator apps or passkeys."
    fix = "Remove an authenticator app or a passkey first."


class LastFactor(Conflict):
    code = "last_factor"
    detail = "The account must have a second factor, and this is its last one"
    title = "The last MFA method cannot be removed"
    cause = "The account must use multi-factor authentication (MFA), and this is its last method."
    fix = "Set up another method first."


class NoFactor(Conflict):
    code = "no_factor"
    detail = "The account has no second factor"
    title = "The account has no MFA method"
    cause = "Recovery codes require an MFA method, and the account has none."
    fix = "Set up an authenticator app or a passkey first."
