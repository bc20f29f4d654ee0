"""The texts of the pages and of their errors, in the reader's language.

English texts are in the code and templates. A language is a file,
`LANGUAGE/LC_MESSAGES/console.mo`, in this package or in the application's folder `translations`.
"""

from collections.abc import Callable
from functools import cache
from gettext import NullTranslations, translation
from pathlib import Path

from flask import current_app, has_request_context, request
from markupsafe import Markup, escape

from ..accounts.errors import AccountNotFound, EmailTaken, TooManyHashes
from ..auth import errors as auth
from ..auth.caller import known_caller
from ..core.errors import Problem, TooManyRequests, Unavailable
from ..core.types import JsonObject

DOMAIN = "console"
OURS = Path(__file__).parent / "translations"
_LANGUAGE = "frontdesk_language"


def _(text: str, **values: object) -> Markup:
    """A text in the reader's language; what is put into it is escaped."""
    return _filled(_catalogue().gettext(text), values)


def _n(one: str, many: str, n: int, **values: object) -> Markup:
    return _filled(_catalogue().ngettext(one, many, n), {"n": n, **values})


def later(text: str) -> str:
    """Marks a text that is looked up where it is shown."""
    return text


def language() -> str:
    """That of the page that is being made."""
    if not has_request_context():
        return "en"
    found: str | None = getattr(request, _LANGUAGE, None)
    if found is None:
        found = _chosen()
        setattr(request, _LANGUAGE, found)
    return found


def _chosen() -> str:
    """The account's own, where its owner has said one; else the browser's."""
    there = languages(_folders())
    caller = known_caller()
    own = getattr(caller.account, "locale", None) if caller else None
    for wanted in filter(None, [own, *request.accept_languages.values()]):
        for name in (wanted.replace("-", "_"), wanted.partition("-")[0]):
            if name in there:
                return str(name)
    return "en"


@cache
def languages(folders: tuple[Path, ...]) -> frozenset[str]:
    found = (path for folder in folders for path in folder.glob(f"*/LC_MESSAGES/{DOMAIN}.mo"))
    return frozenset(["en", *(path.parts[-3] for path in found)])


def _folders() -> tuple[Path, ...]:
    return Path(current_app.root_path) / "translations", OURS


def _catalogue() -> NullTranslations:
    name = language()
    return _NONE if name == "en" else _read(name, _folders())


_NONE = NullTranslations()


@cache
def _read(name: str, folders: tuple[Path, ...]) -> NullTranslations:
    """The host's words first, and ours for what they leave out."""
    read = _NONE
    for folder in reversed(folders):
        found = translation(DOMAIN, folder, [name], fallback=True)
        found.add_fallback(read)
        read = found
    return read


def _filled(text: str, values: JsonObject) -> Markup:
    marked = escape(text)
    return marked.format(**values) if values else marked


_WORDS: dict[type[Problem], str] = {
    auth.IncorrectCredentials: later("Incorrect email or password."),
    auth.InactiveAccount: later("This account is suspended. Contact support."),
    auth.InactiveCaller: later("Your account is suspended. Contact support."),
    auth.AccountDeleting: later(
        "This account is scheduled for deletion. The email about it has a link to restore it."
    ),
    auth.AwaitsVerification: later(
        "Confirm your email address first: open the link in the email that we sent you."
    ),
    auth.InvalidProof: later("This code or link is invalid, was used, or has expired."),
    auth.PasskeyRefused: later("The passkey was rejected. Try again, or use another method."),
    auth.EmailNotVerified: later(
        "The identity provider has not verified your email address. Verify it there and try again."
    ),
    auth.LinkedToAnother: later("This account is linked to another user at the identity provider."),
    auth.SignUpClosed: later("No account has this email address."),
    auth.SignInRefused: later("The identity provider's response was rejected. Start again."),
    auth.UnknownSignIn: later("This sign-in was started in another browser or has expired."),
    auth.ProviderUnavailable: later(
        "The identity provider does not respond. Try again in a moment."
    ),
    auth.NotAuthorized: later(
        "Your account does not have permission. If you need access, ask an administrator."
    ),
    AccountNotFound: later("No account has this email address."),
    EmailTaken: later("An account with this email address already exists."),
    TooManyHashes: later("Many users are signing in right now. Try again in a moment."),
}
# Of rooms that are seldom loaded, by their codes.
_BY_CODE = {
    "incorrect_code": later("Incorrect or used code."),
    "secret_unreadable": later(
        "The authenticator app cannot be checked right now. Use a recovery code."
    ),
    "cross_site": later("The request came from another site. Open the page here and try again."),
}
_UNITS: tuple[tuple[int, Callable[[int], Markup]], ...] = (
    (3600, lambda n: _n("Try again in an hour.", "Try again in {n} hours.", n)),
    (60, lambda n: _n("Try again in a minute.", "Try again in {n} minutes.", n)),
    (1, lambda n: _n("Try again in a second.", "Try again in {n} seconds.", n)),
)


def words_of(problem: Problem) -> Markup:
    if isinstance(problem, TooManyRequests):
        return _("Too many attempts. {later}", later=_when(problem))
    for kind in type(problem).__mro__:
        if kind in _WORDS:
            return _(_WORDS[kind])
    if problem.code in _BY_CODE:
        return _(_BY_CODE[problem.code])
    if isinstance(problem, Unavailable) and problem.detail == Unavailable.detail:
        return _("This is temporarily unavailable. Try again in a moment.")
    return _(problem.detail)


def _when(problem: Problem) -> Markup:
    seconds = int(problem.headers.get("Retry-After", "1"))
    size, words = next(each for each in _UNITS if seconds >= each[0] or each[0] == 1)
    # Rounded up: whoever comes as told is let in.
    return words(-(-seconds // size))
