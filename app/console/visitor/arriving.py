"""What all ways in have in common: whoever comes by one of them is known by a cookie, and may come
from a browser that has shown a second factor some days ago."""

from __future__ import annotations

from typing import Any

from flask import Response, request

from ...auth.sessions.cookie_door import CookieDoor
from ...auth.sessions.cross_site import is_plain
from ...auth.settings import AuthSettings
from ...auth.sign_in.entrance import bring_device
from ...core.context import current_frontdesk, service
from ..ways import asked_next, go_to, to

_DAY = 24 * 3600


def arrive() -> None:
    """Before a form signs somebody in."""
    if secret := request.cookies.get(_name()):
        bring_device(secret)
    service(CookieDoor).enter()


def arrived(answer: Any, said: str = "") -> Response:
    """To the page that was asked for. What trusts this browser is kept where no script reads it."""
    response = go_to(asked_next(to(".dashboard")), said)
    if isinstance(answer, dict) and (secret := answer.get("trusted_device")):
        response.set_cookie(
            _name(),
            secret,
            max_age=trust_days() * _DAY,
            path="/",
            secure=not is_plain(request),
            httponly=True,
            samesite="Lax",
        )
    return response


def trust_days() -> int:
    return current_frontdesk.settings.of(AuthSettings).MFA_TRUST_DAYS


def _name() -> str:
    return "fd-device" if is_plain(request) else "__Host-fd-device"
