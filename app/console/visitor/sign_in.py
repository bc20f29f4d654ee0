"""Signing in with a password, and out."""

from __future__ import annotations

from flask import Response

from ...core.web.operation import anyone, hidden
from ..actions import Perform, performs
from ..pages import page, somebody_is_in
from ..texts import _
from ..ways import asked_next, go, go_to, to
from . import passkey_options
from .arriving import arrive, arrived
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
        passkey_options=passkey_options.to_sign_in(),
    )


@performs("auth.sessions.cookie_routes.open_cookie_session", refused=sign_in_page)
def sign_in(perform: Perform) -> Response:
    arrive()
    return arrived(perform())


@performs("auth.sessions.cookie_routes.close_cookie_session")
def sign_out(perform: Perform) -> Response:
    perform()
    return go(".sign_in_page", _("You are signed out."))
