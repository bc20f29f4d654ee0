"""How a client comes in: what it wants to be known by, and what else it brings.

The ways to sign in are many and lie in many rooms; none of them hands this on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from flask import has_request_context

from ...core.request import request_itself

if TYPE_CHECKING:
    from ..caller import Caller

# The kind of credential that a cookie is.
COOKIE_WAY = "cookie"

_ENTRANCE = "frontdesk_entrance"
_DEVICE = "frontdesk_device"


class Entrance(NamedTuple):
    # Known by a cookie from here on, and not by a token.
    cookie: bool = False
    # Beside the password, so that no second request need bring it.
    otp: str | None = None
    # The secret of a trusted device.
    device: str | None = None
    # It keeps itself signed in.
    refresh: bool = False


def come_in(*, cookie: bool = False, otp: str | None = None, device: str | None = None) -> None:
    """What a route has read of it, before it signs somebody in."""
    setattr(request_itself(), _ENTRANCE, (cookie, otp, device))


def bring_device(secret: str) -> None:
    """A page's own cookie holds it, whichever way its reader signs in."""
    setattr(request_itself(), _DEVICE, secret)


def go_on_as(caller: Caller | None) -> None:
    """Before somebody who is in signs in anew: known by a cookie, they are so again."""
    if caller is not None and caller.via == COOKIE_WAY:
        come_in(cookie=True)


def current_entrance() -> Entrance:
    if not has_request_context():
        return Entrance()
    asked = request_itself()
    cookie, otp, device = getattr(asked, _ENTRANCE, (False, None, None))
    prefers = asked.headers.get("Prefer", "").replace(";", ",").split(",")
    return Entrance(
        cookie,
        otp,
        device=device or getattr(asked, _DEVICE, None) or asked.headers.get("X-Trusted-Device"),
        refresh="refresh" in (each.strip().lower() for each in prefers),
    )
