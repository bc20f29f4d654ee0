"""Cookies of the console's pages: for this host alone, and over TLS alone."""

from __future__ import annotations

from flask import Response, request

from ..auth.sessions.cookies import is_plain


def cookie_name(name: str) -> str:
    """`__Host-` and the name. In debug mode without TLS the name alone, because a browser rejects
    a cookie with this prefix on a page that has no TLS."""
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
