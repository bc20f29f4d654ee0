"""Signing in with a password or a passkey, and out."""

from flask import Response

from ...auth.passkeys import routes as passkeys_api
from ...auth.sessions import routes as sessions_api
from ...core.web.operation import anyone, hidden
from ..api_calls import ApiCall, calls_api
from ..pages import page, somebody_is_in
from ..texts import _
from ..ways import asked_next, go, go_to, to
from . import passkeys
from .arriving import arrive, arrived
from .passkeys import sent_credential
from .provider import provider_name


@anyone
@hidden
def sign_in_page() -> Response:
    if somebody_is_in():
        return go_to(asked_next(to(".dashboard")))
    return page(
        "visitor/sign_in.html",
        next=asked_next(""),
        provider=provider_name(),
        passkey_options=passkeys.options_to_sign_in(),
    )


@calls_api(sessions_api.open_cookie_session, refused=sign_in_page)
def sign_in(call_api: ApiCall) -> Response:
    arrive()
    return arrived(call_api())


@calls_api(passkeys_api.open_cookie_session_by_passkey, refused=sign_in_page)
def sign_in_by_passkey(call_api: ApiCall) -> Response:
    arrive()
    return arrived(call_api(json={"credential": sent_credential()}))


@calls_api(sessions_api.close_cookie_session)
def sign_out(call_api: ApiCall) -> Response:
    call_api()
    return go(".sign_in_page", _("You are signed out."))
