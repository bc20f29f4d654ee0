from __future__ import annotations

from ...core.errors import BadRequest, Conflict, Forbidden, NotFound, QuotaReached, Unavailable


class SecondFactorRequired(Forbidden):
    """Told after a right first proof. `methods` are those that the account has, and `mfa_token` is
    what `POST /login/mfa` goes on with."""

    code = "mfa_required"
    detail = "A second factor is required"
    # No request is rejected yet: the sign-in continues.
    security_event = ""


class EnrolmentRequired(Forbidden):
    """The account must have a second factor, and has none: `mfa_token` is good for setting one of
    `methods` up, and for nothing else."""

    code = "mfa_enrolment_required"
    detail = "A second factor must be set up"
    security_event = ""


class WrongFactor(BadRequest):
    """Wrong, used before, or not the account's."""

    code = "incorrect_code"
    detail = "Incorrect code"
    security_event = "sign_in"


class SecretUnreadable(Unavailable):
    """The log says of which authenticator, and why."""

    code = "secret_unreadable"
    detail = "The authenticator cannot be checked; a recovery code can"


class FactorsOff(Forbidden):
    code = "mfa_off"
    detail = "Second factors are switched off"
    security_event = ""


class UnprovenAddress(Forbidden):
    """Enrolment with an unverified address could lock the owner of that address out."""

    code = "email_not_verified"
    detail = "Verify the email first"


class AuthenticatorNotFound(NotFound):
    code = "authenticator_not_found"
    detail = "Authenticator not found"


class TrustedDeviceNotFound(NotFound):
    code = "trusted_device_not_found"
    detail = "Trusted device not found"


class TooManyAuthenticators(QuotaReached):
    detail = "The account has as many authenticators as it may have"


class LastFactor(Conflict):
    code = "last_factor"
    detail = "The account must have a second factor, and this is its last one"


class NoFactor(Conflict):
    code = "no_factor"
    detail = "The account has no second factor"
