"""Texts of the pages and of their errors, in the reader's language.

English texts are in the code and templates. A translation is a file,
`LANGUAGE/LC_MESSAGES/console.mo`, in this package or in the application's folder `translations`.
"""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from functools import cache
from gettext import NullTranslations, translation
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from flask import current_app, has_request_context, request
from markupsafe import Markup, escape

from ..accounts.errors import AccountNotFound, EmailTaken, TooManyHashes
from ..accounts.models import SUSPENDED
from ..accounts.service import Accounts
from ..auth import errors as auth
from ..auth.caller import known_caller
from ..core.context import service
from ..core.errors import Problem, TooManyRequests, Unavailable
from ..core.types import JsonObject
from ..delivery.mail.templates import Templates

DOMAIN = "console"
BUILT_IN = Path(__file__).parent / "translations"
_LANGUAGE = "frontdesk_language"


def _(text: str, **values: object) -> Markup:
    """Return a text in the reader's language, with the values escaped."""
    return _format(_catalogue().gettext(text), values)


def _n(one: str, many: str, n: int, **values: object) -> Markup:
    return _format(_catalogue().ngettext(one, many, n), {"n": number(n), **values})


def number(value: int) -> str:
    """Format an integer with the separator of the reader's language between the thousands."""
    if value < 1000:
        return str(value)
    # Translators write this number as in their language.
    example = re.fullmatch(r"\D*1(\D*)000\D*", _("1,000"))
    return f"{value:,}".replace(",", example[1] if example else ",")


def mark(text: str) -> str:
    """Mark a text for translators; `_` translates it where it is shown."""
    return text


MONTHS = (
    mark("Jan"),
    mark("Feb"),
    mark("Mar"),
    mark("Apr"),
    mark("May"),
    mark("Jun"),
    mark("Jul"),
    mark("Aug"),
    mark("Sep"),
    mark("Oct"),
    mark("Nov"),
    mark("Dec"),
)
DAY = mark("{day} {month} {year}")
DAY_AND_TIME = mark("{date}, {time}")


def format_day(day: date) -> str:
    return _(DAY, day=day.day, month=_(MONTHS[day.month - 1]), year=day.year)


def format_day_of_year(day: date) -> str:
    return _("{day} {month}", day=day.day, month=_(MONTHS[day.month - 1]))


def format_time(at: datetime) -> str:
    """Format a time of the reader's time zone, with its day."""
    return _(DAY_AND_TIME, date=format_day(at), time=at.strftime("%H:%M"))


def language() -> str:
    """Return the language of the current page."""
    if not has_request_context():
        return "en"
    found: str | None = getattr(request, _LANGUAGE, None)
    if found is None:
        found = _select_language()
        setattr(request, _LANGUAGE, found)
    return found


def _select_language() -> str:
    """Return the account's language, otherwise the first known language of the browser."""
    available = available_languages()
    caller = known_caller()
    chosen = getattr(caller.account, "locale", None) if caller else None
    for wanted in filter(None, [chosen, *request.accept_languages.values()]):
        for name in (wanted.replace("-", "_"), wanted.partition("-")[0]):
            if name in available:
                return str(name)
    return "en"


def available_languages() -> frozenset[str]:
    return languages(_folders())


@cache
def languages(folders: tuple[Path, ...]) -> frozenset[str]:
    found = (path for folder in folders for path in folder.glob(f"*/LC_MESSAGES/{DOMAIN}.mo"))
    return frozenset(["en", *(path.parts[-3] for path in found)])


def _folders() -> tuple[Path, ...]:
    return Path(current_app.root_path) / "translations", BUILT_IN


def _catalogue() -> NullTranslations:
    name = language()
    return _NONE if name == "en" else _load_catalogue(name, _folders())


_NONE = NullTranslations()


@cache
def _load_catalogue(name: str, folders: tuple[Path, ...]) -> NullTranslations:
    """Load the application's translations, with the shipped ones as fallback."""
    read = _NONE
    for folder in reversed(folders):
        found = translation(DOMAIN, folder, [name], fallback=True)
        found.add_fallback(read)
        read = found
    return read


def _format(text: str, values: JsonObject) -> Markup:
    marked = escape(text)
    return marked.format(**values) if values else marked


_MESSAGES: dict[type[Problem], str] = {
    auth.IncorrectCredentials: mark("Incorrect email or password."),
    auth.AccountDeleting: mark(
        "This account is scheduled for deletion. The email about it has a link to restore it."
    ),
    auth.AwaitsVerification: mark(
        "Confirm your email address first: open the link in the email that we sent you."
    ),
    auth.InvalidProof: mark("This code or link is invalid, was used, or has expired."),
    auth.PasskeyRefused: mark("The passkey was rejected. Try again, or use another method."),
    auth.EmailNotVerified: mark(
        "The identity provider has not verified your email address. Verify it there and try again."
    ),
    auth.LinkedToAnother: mark("This account is linked to another user at the identity provider."),
    auth.SignUpClosed: mark("No account has this email address."),
    auth.SignInRefused: mark("The identity provider's response was rejected. Start again."),
    auth.UnknownSignIn: mark("This sign-in was started in another browser or has expired."),
    auth.ProviderUnavailable: mark(
        "The identity provider does not respond. Try again in a moment."
    ),
    auth.NotAuthorized: mark(
        "Your account does not have permission. If you need access, ask an administrator."
    ),
    AccountNotFound: mark("No account has this email address."),
    EmailTaken: mark("An account with this email address already exists."),
    TooManyHashes: mark("Many users are signing in right now. Try again in a moment."),
}
# By code: errors of packages that are imported lazily, and texts that are plainer on a page.
_MESSAGES_BY_CODE = {
    "conflict": mark("The data was changed at the same time. Reload the page and try again."),
    "cross_site": mark("The request came from another site. Open the page here and try again."),
    "forbidden": _MESSAGES[auth.NotAuthorized],
    "incorrect_code": mark("Incorrect or used code."),
    "member_inactive": mark("Your membership in this workspace is not active."),
    "not_a_member": mark("You are not a member of this workspace."),
    "notification_not_found": mark("The message does not exist."),
    "notification_not_restorable": mark("This can no longer be undone."),
    "notification_restored": mark("The message is already restored."),
    "quota_reached": mark("You have reached the maximum number of these."),
    "secret_unreadable": mark(
        "The authenticator app cannot be checked right now. Use a recovery code."
    ),
    "slug_taken": mark("Another workspace has this address. Choose another one."),
    "too_many_attempts": mark("Too many attempts."),
    "too_many_exports": mark("You can request one data export per day."),
    "too_many_requests": mark("Too many attempts."),
    "validation_error": mark("The request contains invalid values. Go back and try again."),
}
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
    for kind in type(problem).__mro__:
        if kind in _MESSAGES:
            return _(_MESSAGES[kind])
    if isinstance(problem, (auth.InactiveAccount, auth.InactiveCaller)):
        return _inactive_message(problem)
    if isinstance(problem, Unavailable):
        return _("This is temporarily unavailable. Try again in a moment.")
    is_explicit = "detail" in vars(problem) or not _is_built_in(type(problem))
    if not is_explicit and problem.code in _MESSAGES_BY_CODE:
        return _(_MESSAGES_BY_CODE[problem.code])
    if workspaces := problem.members.get("workspaces"):
        return _(
            "The account is the only owner of workspaces with other members ({workspaces})."
            " Make another member an owner, or delete the workspaces first.",
            workspaces=", ".join(workspaces),
        )
    text = _(problem.detail if is_explicit else problem.title or problem.detail)
    return text if text.endswith((".", "!", "?")) else text + "."


def _is_built_in(kind: type[Problem]) -> bool:
    """Return whether the error is Frontdesk's: the texts of an application's errors are shown."""
    return kind.__module__.partition(".")[0] == __name__.partition(".")[0]


def _inactive_message(problem: Problem) -> Markup:
    caller = known_caller()
    account_id = problem.note.get("account_id") or (caller and caller.account.id)
    account = service(Accounts).by_id(account_id) if account_id else None
    until = getattr(account, "suspended_until", None)
    if account is not None and account.status != SUSPENDED:
        text = _("Your account is not active.")
    elif until is not None:
        text = _("Your account is suspended until {day}.", day=_last_day(until, zone_of(account)))
    else:
        text = _("Your account is suspended.")
    contact = service(Templates).brand.SUPPORT_EMAIL
    help_text = _("Contact {email}.", email=contact) if contact else _("Contact support.")
    return Markup("{} {}").format(text, help_text)


def _last_day(moment: datetime, zone: ZoneInfo | None) -> str:
    end = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return format_day(end.astimezone(zone or UTC))


def zone_of(account: object) -> ZoneInfo | None:
    """Return the time zone of an account, if it is set and known."""
    name = getattr(account, "time_zone", None)
    if not name:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return None


def _retry_text(problem: Problem) -> Markup:
    seconds = int(problem.headers.get("Retry-After", "1"))
    size, text = next(each for each in _UNITS if seconds >= each[0] or each[0] == 1)
    # Rounded up, so that a user who waits this long is not rejected again.
    return text(-(-seconds // size))
