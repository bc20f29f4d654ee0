"""What pages say about errors: one table of texts, by the code of the error."""

from collections.abc import Callable
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from markupsafe import Markup

from ..accounts.models import SUSPENDED
from ..accounts.service import Accounts
from ..auth.caller import known_caller
from ..auth.errors import InactiveAccount, InactiveCaller, TooManyAttempts
from ..core.coded_messages import ValidationMessage
from ..core.context import service
from ..core.errors import Fault, Problem, TooManyRequests, Unavailable
from ..delivery.mail.templates import Templates
from .cookies import browser_zone
from .texts import _, _n, format_day, mark, zone_of

_REQUIRED = mark("This field is required.")
_DATE = mark("Enter a valid date.")
_NUMBER = mark("Enter a number.")
_NO_PERMISSION = mark(
    "Your account does not have permission. If you need access, ask an administrator."
)
_UNKNOWN_EMAIL = mark("No account has this email address.")
_TOO_MANY_ATTEMPTS = mark("Too many attempts.")
# The texts of problems, by code, and of faults, by code and `expected`. A key with the name of a
# class is for problems that share a code. The API's message is shown for other faults.
_TEXTS = {
    "account_deleting": mark(
        "This account is scheduled for deletion. The email about it has a link to restore it."
    ),
    "account_not_found": _UNKNOWN_EMAIL,
    "blank": _REQUIRED,
    "breached": mark("This password appeared in a data breach. Choose another one."),
    "busy.TooManyHashes": mark("Many users are signing in right now. Try again in a moment."),
    "conflict": mark("The data was changed at the same time. Reload the page and try again."),
    "cross_site": mark("The request came from another site. Open the page here and try again."),
    "email_not_verified.AwaitsVerification": mark(
        "Confirm your email address first: open the link in the email that we sent you."
    ),
    "email_not_verified.EmailNotVerified": mark(
        "The identity provider has not verified your email address. Verify it there and try again."
    ),
    "email_taken": mark("An account with this email address already exists."),
    "forbidden": _NO_PERMISSION,
    "identity_not_found": mark("This identity was already removed."),
    "identity_taken": mark(
        "Another account is linked to this user of the identity provider. Sign in there as another"
        " user, or remove the link from the other account."
    ),
    "last_owner": mark(
        "You are the only owner. Make another member an owner first, or delete the workspace."
    ),
    "last_root": mark("There is no other root account. Give another account the role root first."),
    "in_the_future": mark("Enter a date in the past."),
    "in_the_past": mark("Choose a date in the future."),
    "incorrect_code": mark("Incorrect or used code."),
    "incorrect_credentials": mark("Incorrect email or password."),
    "invalid_format.active_account": mark("This account is not active."),
    "invalid_format.account_email": mark("This is not the account's email address."),
    "invalid_format.cursor": mark("Start again on the first page of the list."),
    "invalid_format.date": _DATE,
    "invalid_format.datetime": _DATE,
    "invalid_format.email": mark("Enter a valid email address."),
    "invalid_format.pattern": mark("The format is invalid."),
    "invalid_format.phone": mark(
        "Enter a phone number with + and the country code, such as {example}."
    ),
    "invalid_format.slug": mark("Use {min} to {max} lowercase letters, digits and hyphens."),
    "invalid_format.url": mark("Enter a valid URL."),
    "invalid_format.uuid": mark("Enter a valid ID."),
    "invalid_format.workspace_name": mark("This is not the name of the workspace."),
    "invalid_token": mark("This code or link is invalid, was used, or has expired."),
    "invalid_type": mark("The value is invalid."),
    "invalid_type.boolean": mark("Choose yes or no."),
    "invalid_type.integer": _NUMBER,
    "invalid_type.number": _NUMBER,
    "linked_to_another": mark("This account is linked to another user at the identity provider."),
    "link_confirmation_required": mark(
        "An account with this email address exists. Sign in in another way."
    ),
    "link_refused": mark("An account with this email address exists. Sign in in another way."),
    "mandatory_kind": mark("Required notifications cannot be turned off."),
    "member_inactive": mark("Your membership in this workspace is not active."),
    "no_account": _UNKNOWN_EMAIL,
    "not_a_member": mark("You are not a member of this workspace."),
    "not_authorized": _NO_PERMISSION,
    "not_one_of": mark("Choose one of the options."),
    "notification_not_found": mark("The message does not exist."),
    "notification_not_restorable": mark("This can no longer be undone."),
    "notification_restored": mark("The message is already restored."),
    "null": _REQUIRED,
    "only_sign_in_method": mark(
        "This is the only way to sign in to the account. The owner must first set a password or"
        " add a passkey."
    ),
    "out_of_range": mark("The number is out of range."),
    "out_of_range.between": mark("Enter a number from {min} to {max}."),
    "passkey_refused": mark("The passkey was rejected. Try again, or use another method."),
    "provider_unavailable": mark("The identity provider does not respond. Try again in a moment."),
    "quota_reached.TooManyTokens": mark(
        "The maximum number of tokens exists. End a token that is no longer used."
    ),
    "quota_reached": mark("You have reached the maximum number of these."),
    "repeated": mark("Enter a new value."),
    "repeated.new_password": mark("This is your current password."),
    "required": _REQUIRED,
    "reserved": mark("This address is reserved. Choose another one."),
    "same_as_email": mark("The password must differ from the email address."),
    "secret_unreadable": mark(
        "The authenticator app cannot be checked right now. Use a recovery code."
    ),
    "sign_in_refused": mark("The identity provider's response was rejected. Start again."),
    "sign_up_needed": mark("Create an account first, or ask an administrator for one."),
    "slug_taken": mark("Another workspace has this address. Choose another one."),
    "sole_owner": mark(
        "Workspaces with other members have no other owner. Make another member of each workspace"
        " an owner first, or delete the workspace."
    ),
    "taken.account": mark("Another account has this value. Choose another one."),
    "too_common": mark("This password is too common. Choose another one."),
    "too_long": mark("Enter at most {max} characters."),
    "too_many_attempts": _TOO_MANY_ATTEMPTS,
    "too_many_exports": mark("You can request one data export per day."),
    "too_many_requests": _TOO_MANY_ATTEMPTS,
    "too_short": mark("Enter at least {min} characters."),
    "too_short.accounts": mark("Select at least one account."),
    "too_short.one": _REQUIRED,
    "unknown_field.account": mark("The accounts of this application do not support this."),
    "unknown_field.verified": mark("This is not possible before the email address is verified."),
    "unknown_sign_in": mark("This sign-in was started in another browser or has expired."),
    "validation_error": mark("The request contains invalid values. Go back and try again."),
}
# Labels that differ from the name of the field, for errors outside of the field itself.
_LABELS = {
    "account_receiver_ids": mark("Recipients"),
    "avatar": mark("Picture"),
    "emails": mark("Email addresses"),
    "last_login_after": mark("Last signed in after"),
    "last_login_before": mark("Last signed in before"),
    "locale": mark("Language"),
    "mfa": mark("Two-factor authentication"),
    "otp": mark("Code from the app"),
    "since": mark("From"),
    "slug": mark("Address"),
    "sort": mark("Sort order"),
    "suspended_reason": mark("Reason"),
    "suspended_until": mark("Until"),
    "typed": mark("Number of recipients"),
    "until": mark("To"),
}
# Fields that users do not fill in.
_HIDDEN = ("token", "mfa_token", "login_id", "code", "state", "redirect_uri", "invitation")
# Translations have a number of their country.
_PHONE = mark("+44 20 7946 0000")
_UNITS: tuple[tuple[int, Callable[[int], Markup]], ...] = (
    (3600, lambda n: _n("Try again in an hour.", "Try again in {n} hours.", n)),
    (60, lambda n: _n("Try again in a minute.", "Try again in {n} minutes.", n)),
    (1, lambda n: _n("Try again in a second.", "Try again in {n} seconds.", n)),
)


def message_for(problem: Problem) -> Markup:
    """Return what a page says about an error, as whole sentences."""
    if isinstance(problem, TooManyRequests):
        return Markup("{} {}").format(_sentence_for(problem), _retry_text(problem))
    return _sentence_for(problem)


def _sentence_for(problem: Problem) -> Markup:
    if isinstance(problem.detail, Markup):
        # A text of the console, already translated.
        return problem.detail
    known = _TEXTS.get(f"{problem.code}.{type(problem).__name__}") or _TEXTS.get(problem.code)
    if known and not _is_explicit(problem):
        return _(known)
    if isinstance(problem, (InactiveAccount, InactiveCaller)):
        return _inactive_message(problem)
    if isinstance(problem, Unavailable):
        return _("This is temporarily unavailable. Try again in a moment.")
    text = _(problem.detail if _is_explicit(problem) else problem.title or problem.detail)
    return text if text.endswith((".", "!", "?")) else text + "."


def _is_explicit(problem: Problem) -> bool:
    """Return whether the detail was chosen for this error, or by an application: it is shown."""
    declares = next(kind for kind in type(problem).__mro__ if "detail" in vars(kind))
    package = __name__.partition(".")[0]
    # The detail of a rate limit has the time, which pages add themselves.
    is_chosen = "detail" in vars(problem) and not isinstance(problem, TooManyAttempts)
    return is_chosen or declares.__module__.partition(".")[0] != package


def field_error(fault: Fault) -> Markup:
    """Return what a page says about an invalid value, without the name of the field."""
    if isinstance(fault.message, Markup):
        # A text of the console, already translated.
        return fault.message
    known = _TEXTS.get(f"{fault.code}.{_variant(fault)}") or _TEXTS.get(fault.code)
    if known is None or isinstance(fault.message, ValidationMessage):
        return _(fault.message)
    return _(known, **{"example": _(_PHONE), **fault.params})


def _variant(fault: Fault) -> object:
    match fault.code, fault.params:
        case "out_of_range", {"min": _low, "max": _high}:
            return "between"
        case "too_short", {"min": 1, **others} if not others:
            return "one"
        case "repeated", _params:
            return fault.field
        case _, {"expected": expected}:
            return expected
    return ""


def labeled_error(fault: Fault) -> Markup:
    """Return what a page says about an invalid value of a field that it does not show."""
    root, _dot, inner = fault.field.partition(".")
    if root in _HIDDEN:
        return _("This page is incomplete or has expired. Start again.")
    if root == "credential":
        return _("The browser sent no valid passkey. Try again.")
    if not fault.field:
        return field_error(fault)
    name = inner.rpartition(".")[2] or root
    label = _LABELS.get(root) or name.replace("_", " ").capitalize()
    return _("{field}: {error}", field=_(label), error=field_error(fault))


def _inactive_message(problem: Problem) -> Markup:
    caller = known_caller()
    account_id = problem.note.get("account_id") or (caller and caller.account.id)
    account = service(Accounts).by_id(account_id) if account_id else None
    until = getattr(account, "suspended_until", None)
    if account is not None and account.status != SUSPENDED:
        text = _("Your account is not active.")
    elif until is not None:
        text = _(
            "Your account is suspended until {day}.",
            day=_last_day(until, zone_of(account) or browser_zone()),
        )
    else:
        text = _("Your account is suspended.")
    contact = service(Templates).brand.SUPPORT_EMAIL
    help_text = _("Contact {email}.", email=contact) if contact else _("Contact support.")
    return Markup("{} {}").format(text, help_text)


def _last_day(moment: datetime, zone: ZoneInfo | None) -> str:
    end = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return format_day(end.astimezone(zone or UTC))


def _retry_text(problem: Problem) -> Markup:
    seconds = int(problem.headers.get("Retry-After", "1"))
    size, text = next(each for each in _UNITS if seconds >= each[0] or each[0] == 1)
    # Rounded up, so that a user who waits this long is not rejected again.
    return text(-(-seconds // size))
