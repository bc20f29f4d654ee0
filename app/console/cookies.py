"""Cookies of the console, which are bound to this host and to TLS, and the color scheme and time
zone of the browser."""

import re
import secrets
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from flask import Response, after_this_request, request

from ..auth.cross_site import is_plain
from ..core.context import current_frontdesk
from .texts import find_zone

# A form that was sent after its session had ended (kept_forms.py).
KEPT_FORM = "fd-kept"
# The value if the form could not be kept.
LOST = "lost"


def cookie_name(name: str) -> str:
    """Return the name with the prefix `__Host-`.

    In debug mode without TLS there is no prefix: browsers reject such cookies without TLS.
    """
    return name if is_plain(request) else f"__Host-{name}"


def read_cookie(name: str) -> str | None:
    return request.cookies.get(cookie_name(name))


def set_cookie(
    response: Response, name: str, value: str, seconds: int, *, is_for_scripts: bool = False
) -> None:
    response.set_cookie(
        cookie_name(name),
        value,
        max_age=seconds,
        path="/",
        secure=not is_plain(request),
        httponly=not is_for_scripts,
        samesite="Lax",
    )


def delete_cookie(response: Response, name: str) -> None:
    set_cookie(response, name, "", 0)


def take_lost_note() -> bool:
    """Return whether a form of this browser was lost, once: the page then says so."""
    is_lost = read_cookie(KEPT_FORM) == LOST
    if is_lost:
        after_this_request(delete_kept_form)
    return is_lost


def delete_kept_form(response: Response) -> Response:
    delete_cookie(response, KEPT_FORM)
    return response


_KEY = re.compile(r"[\w-]{43}", re.ASCII)


@dataclass(frozen=True)
class BrowserEntry:
    """An entry of the shared state store that belongs to a browser: its key is random, and only in
    a cookie. The methods raise KeystoreUnavailable."""

    cookie: str
    prefix: str

    def store(self, response: Response, value: str, seconds: int) -> None:
        key = secrets.token_urlsafe()
        current_frontdesk.keystore.put(f"{self.prefix}:{key}", value, seconds)
        set_cookie(response, self.cookie, key, seconds)

    def read(self) -> str | None:
        name = self._name()
        return None if name is None else current_frontdesk.keystore.get(name)

    def take(self) -> str | None:
        """Return the value and delete the entry: of two requests at once, one gets the value."""
        name = self._name()
        return None if name is None else current_frontdesk.keystore.take(name)

    def _name(self) -> str | None:
        key = read_cookie(self.cookie) or ""
        return f"{self.prefix}:{key}" if _KEY.fullmatch(key) else None


NAME = "fd-theme"
THEMES = ("light", "dark")
A_YEAR = 365 * 24 * 3600


def theme() -> str | None:
    """Return the chosen color scheme; None means the browser's.

    A cookie without the prefix, from an earlier version, is valid until the visitor chooses again.
    """
    chosen = read_cookie(NAME) or request.cookies.get(NAME)
    return chosen if chosen in THEMES else None


def theme_cookie() -> str:
    """Return the name of the cookie, which the script also writes (static/forms.js)."""
    return cookie_name(NAME)


def choose_theme(response: Response, chosen: str | None) -> None:
    if NAME in request.cookies and theme_cookie() != NAME:
        response.delete_cookie(NAME, path="/")
    if chosen in THEMES:
        set_cookie(response, NAME, str(chosen), A_YEAR, is_for_scripts=True)
    else:
        delete_cookie(response, NAME)


# The script writes this cookie on each page that it loads (static/moments.js).
ZONE = "fd-zone"
_ZONE_NAME = re.compile(r"[\w+-]{1,32}(/[\w+-]{1,32}){0,2}", re.ASCII)


def browser_zone() -> ZoneInfo | None:
    """Return the time zone of the browser, if the script has stored a known one."""
    name = read_cookie(ZONE) or ""
    return find_zone(name) if _ZONE_NAME.fullmatch(name) else None
