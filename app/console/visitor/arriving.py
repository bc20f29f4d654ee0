"""What all ways in have in common: whoever comes by one of them is known by a cookie, and may come
from a browser that has shown a second factor some days ago."""

from flask import Response

from ...auth.sessions.cookie_sessions import CookieSessions
from ...auth.settings import AuthSettings
from ...auth.sign_in.options import use_device
from ...core.context import current_frontdesk, service
from ..cookies import read_cookie, set_cookie
from ..ways import asked_next, go_to, to

NAME = "fd-device"
_DAY = 24 * 3600


def arrive() -> None:
    """Before a form signs somebody in."""
    bring_trusted_device()
    service(CookieSessions).prepare_sign_in()


def bring_trusted_device() -> None:
    """Make the browser's trusted-device cookie count for this request."""
    if secret := read_cookie(NAME):
        use_device(secret)


def arrived(answer: object, said: str = "") -> Response:
    """To the page that was asked for. What trusts this browser is kept where no script reads it."""
    response = go_to(asked_next(to(".dashboard")), said)
    if isinstance(answer, dict) and (secret := answer.get("trusted_device")):
        set_cookie(response, NAME, secret, trust_days() * _DAY)
    return response


def trust_days() -> int:
    return current_frontdesk.settings.of(AuthSettings).MFA_TRUST_DAYS
