"""Common steps of all sign-in methods: the cookie session and the trusted device."""

from flask import Response

from ...auth.sessions.cookie_sessions import CookieSessions
from ...auth.settings import AuthSettings
from ...auth.sign_in.options import use_device
from ...core.context import current_frontdesk, service
from ...core.types import Values
from ..api_calls import ApiCall
from ..cookies import read_cookie, set_cookie
from ..links import next_path, redirect
from ..navigation import home_path

DEVICE_COOKIE = "fd-device"
_DAY = 24 * 3600


def prepare_sign_in() -> None:
    """Prepare the request for a sign-in that opens a cookie session."""
    use_trusted_device()
    service(CookieSessions).prepare_sign_in()


def use_trusted_device() -> None:
    """Use the browser's trusted-device cookie in this request."""
    if secret := read_cookie(DEVICE_COOKIE):
        use_device(secret)


def redirect_signed_in(result: object, text: str = "", path: str = "") -> Response:
    """Redirect to a path or to the requested page, and store the secret of a trusted device in a
    cookie."""
    response = redirect(path or next_path(home_path()), text)
    if isinstance(result, dict) and (secret := result.get("trusted_device")):
        set_cookie(response, DEVICE_COOKIE, secret, trust_days() * _DAY)
    return response


def finish_sign_in(call_api: ApiCall, **data: Values) -> Response:
    """Sign in with the API's view of a form."""
    prepare_sign_in()
    return redirect_signed_in(call_api(**data))


def trust_days() -> int:
    return current_frontdesk.settings.of(AuthSettings).MFA_TRUST_DAYS
