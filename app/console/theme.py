"""The colour scheme that a visitor has chosen: stored in a cookie of the browser, nowhere else."""

from __future__ import annotations

from flask import Response, request

from .cookies import cookie_name, delete_cookie, read_cookie, set_cookie

NAME = "fd-theme"
THEMES = ("light", "dark")
_A_YEAR = 365 * 24 * 3600


def theme() -> str | None:
    """None: the browser's own colour scheme. A cookie from before the prefix still counts, until
    the visitor chooses again."""
    chosen = read_cookie(NAME) or request.cookies.get(NAME)
    return chosen if chosen in THEMES else None


def theme_cookie() -> str:
    """The name that the script writes too (static/forms.js)."""
    return cookie_name(NAME)


def choose_theme(response: Response, chosen: str | None) -> None:
    if NAME in request.cookies and theme_cookie() != NAME:
        response.delete_cookie(NAME, path="/")
    if chosen in THEMES:
        set_cookie(response, NAME, str(chosen), _A_YEAR, is_for_scripts=True)
    else:
        delete_cookie(response, NAME)
