"""Texts of the pages and of their errors, in the reader's language."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from functools import cache, lru_cache
from gettext import NullTranslations
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from flask import current_app, request
from markupsafe import Markup, escape

from ..accounts.errors import AccountNotFound, EmailTaken, TooManyHashes
from ..accounts.models import SUSPENDED
from ..accounts.service import Accounts
from ..auth import errors as auth
from ..auth.caller import known_caller
from ..core.context import current_frontdesk, service
from ..core.errors import Problem, TooManyRequests, Unavailable
from ..core.request import requested_languages
from ..core.translations import (
    DAY,
    ENGLISH,
    MONTHS,
    isolated,
    language_tag,
    load_catalog,
    select_language,
    translation_folders,
)
from ..core.translations import available_languages as languages
from ..core.translations import direction as direction_of
from ..core.translations import mark as mark
from ..core.types import JsonObject
from ..delivery.mail.templates import Templates

DOMAIN = "console"
_LANGUAGE = "frontdesk_language"


def _(text: str, **values: object) -> Markup:
    """Return a text in the reader's language, with the values escaped."""
    return _format(_translate(_catalogue(), text), values)


# By type too, because markup is not escaped. Limited, because names of the application's statuses
# and channels are texts too.
@lru_cache(maxsize=5_000, typed=True)
def _translate(catalog: NullTranslations, text: str) -> Markup:
    # A catalog has its header as the translation of an empty text.
    return escape(catalog.gettext(text) if text else "")


def _p(context: str, text: str, **values: object) -> Markup:
    """Return a text that has several meanings or forms in other languages; the context says which
    one."""
    return _format(_catalogue().pgettext(context, text), values)


def _n(one: str, many: str, n: int, **values: object) -> Markup:
    return _format(_catalogue().ngettext(one, many, n), {"n": number(n), **values})


def number(value: int) -> str:
    """Format an integer with the separator of the reader's language between the thousands."""
    if value < 1000:
        return str(value)
    # Translators write this number as in their language.
    return f"{value:,}".replace(",", _separator(_catalogue().gettext(mark("1,000"))))


@cache
def _separator(example: str) -> str:
    found = re.fullmatch(r"\D*1(\D*)000\D*", example)
    return found[1] if found else ","


DAY_AND_TIME = mark("{date}, {time}")


def format_day(day: date) -> str:
    return _write_day(_catalogue(), language(), day.year, day.month, day.day)


@lru_cache(maxsize=1_000)
def _write_day(catalog: NullTranslations, name: str, year: int, month: int, day: int) -> Markup:
    values = {"day": day, "month": _translate(catalog, MONTHS[month - 1]), "year": year}
    return _translate(catalog, DAY).format(**isolated(values, name))


def format_day_of_year(day: date) -> str:
    return _("{day} {month}", day=day.day, month=_(MONTHS[day.month - 1]))


def format_time(at: datetime) -> str:
    """Format a time of the reader's time zone, with its day."""
    return _(DAY_AND_TIME, date=format_day(at), time=at.strftime("%H:%M"))


def language() -> str:
    """Return the language of the current page, such as `de` or `pt_BR`."""
    try:
        found: str | None = getattr(request, _LANGUAGE, None)
    except RuntimeError:
        # Outside of a request.
        return ENGLISH
    if found is None:
        caller = known_caller()
        return use_language(getattr(caller.account, "locale", None) if caller else None)
    return found


def use_language(chosen: str | None) -> str:
    """Write the texts of this request in the account's language, otherwise in the browser's,
    otherwise in the default. Return it."""
    default = current_frontdesk.settings.core.LANGUAGE
    found = select_language(available_languages(), [chosen, *requested_languages(), default])
    setattr(request, _LANGUAGE, found)
    return found


def tag() -> str:
    """Return the language for the attribute `lang` of the page."""
    return language_tag(language())


def direction() -> str:
    return direction_of(language())


def available_languages() -> frozenset[str]:
    return languages(DOMAIN, _folders())


def _folders() -> tuple[Path, ...]:
    return translation_folders(current_app.root_path)


def _catalogue() -> NullTranslations:
    name = language()
    return _NONE if name == ENGLISH else load_catalog(DOMAIN, name, _folders())


_NONE = NullTranslations()


def _format(text: str, values: JsonObject) -> Markup:
    marked = escape(text)
    return marked.format(**isolated(values, language())) if values else marked


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
    "only_sign_in_method": mark(
        "This is the only way to sign in to the account. The owner must first set a password or"
        " add a passkey."
    ),
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
