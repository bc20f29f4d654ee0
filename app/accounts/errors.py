import logging
from typing import ClassVar

from ..core.coded_messages import CodedMessage
from ..core.errors import Busy, Conflict, Invalid, NotFound, Problem

log = logging.getLogger(__name__)

REMEDY = "pass account_model=, a mapped class with AccountMixin, to frontdesk.init_app."


class AccountModelMissing(Problem):
    """The response names the problem; the log says how to fix it."""

    code = "account_model_missing"
    detail = "Account model is not configured"
    title = "The account model is not configured"
    cause = "The application did not pass a mapped account model to `frontdesk.init_app`."
    fix = "Pass `account_model=`, a mapped class with `AccountMixin`, to `frontdesk.init_app`."
    remedy: ClassVar[str] = f"The account model is not configured: {REMEDY}"

    def __init__(self) -> None:
        super().__init__()
        log.error("%s", self.remedy)


class AccountNotFound(NotFound):
    """No account has the email address or id."""

    code = "account_not_found"
    detail = "Account not found"
    title = "The account does not exist"
    cause = (
        "No account has this id or email address, or the email address of the token's account"
        " has changed."
    )
    fix = (
        "Check the id or the email address. If the request was sent with an access token, sign"
        " in again."
    )


class EmailTaken(Conflict):
    """Another account has the email address."""

    code = "email_taken"
    detail = "An account with this email already exists"
    title = "The email address is in use"
    cause = "Another account has this email address."
    fix = "Use another email address, or sign in to the existing account."


class MissingValue(Invalid):
    """A new account has no value in a required column of the application."""

    cause = "A new account has no value in a required column of the application."


class InvalidEmail(Invalid):
    """The email address is malformed."""

    code = "invalid_email"
    detail = "Not a valid email address"
    message = CodedMessage(detail, "invalid_format", expected="email")
    title = "The email address is not valid"
    cause = "The value is not a valid email address."
    fix = "Correct the email address."


class InvalidPhone(Invalid):
    """The phone number is malformed."""

    code = "invalid_phone"
    detail = "Enter the phone number with + and the country code"
    message = CodedMessage(detail, "invalid_format", expected="phone")
    title = "The phone number is not valid"
    cause = "The value is not a valid phone number in international format."
    fix = "Send the number with `+` and the country code, such as `+4915112345678`."


class UnfitPassword(Invalid):
    """The password is too short, too long or the email address."""

    code = "unfit_password"
    detail = "The password cannot be used"
    title = "The password does not meet the rules"
    cause = "The password is too short, too long, or equal to the email address."
    fix = "Choose another password. `detail` or `errors` has the rule."


class TooManyHashes(Busy):
    """Too many passwords are checked at the same time."""

    detail = "Too many sign-ins at once"
    cause = "More sign-ins arrive at once than the server can check."
    fix = (
        "Wait for the number of seconds in `Retry-After`, then sign in again. Operators raise"
        " `AUTH__LOGINS_AT_ONCE` or add workers."
    )
    security_event = "limit"
