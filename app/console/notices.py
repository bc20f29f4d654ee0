"""What a page says once of what has just been done: carried over the redirect in a cookie."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from flask import Response, request
from itsdangerous import BadData, URLSafeTimedSerializer

from ..auth.sessions.cross_site import is_plain
from ..core.context import current_frontdesk

SECONDS = 60


class Undo(NamedTuple):
    """A form that takes back what was done."""

    url: str
    fields: Mapping[str, Any]


class Notice(NamedTuple):
    text: str
    kind: str = "success"
    undo: Undo | None = None


def say(response: Response, text: str, kind: str = "success", undo: Undo | None = None) -> Response:
    value = _serializer().dumps([str(text), kind, undo])
    response.set_cookie(
        _name(),
        value,
        max_age=SECONDS,
        path="/",
        secure=not is_plain(request),
        httponly=True,
        samesite="Lax",
    )
    return response


def notice() -> Notice | None:
    """For the layout, which shows it; the answer then takes the cookie away."""
    value = request.cookies.get(_name())
    if not value:
        return None
    try:
        text, kind, undo = _serializer().loads(value, max_age=SECONDS)
    except (BadData, ValueError):
        return None
    return Notice(text, kind, Undo(*undo) if undo else None)


def take_notice(response: Response) -> Response:
    if _name() in request.cookies:
        response.delete_cookie(
            _name(), path="/", secure=not is_plain(request), httponly=True, samesite="Lax"
        )
    return response


def _name() -> str:
    return "fd-said" if is_plain(request) else "__Host-fd-said"


def _serializer() -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(current_frontdesk.settings.secret_key, salt="frontdesk.notice")
