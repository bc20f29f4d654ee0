"""`/session`: signing in by a cookie, for pages in a browser."""

from __future__ import annotations

from typing import Any

from ...accounts.errors import TooManyHashes
from ...core.context import service
from ...core.web.answering import answers
from ...core.web.fields import Message
from ...core.web.operation import anyone, example, raises
from ...core.web.pages import clear_browser_cache
from ...core.web.reading import takes
from ..blueprint import address
from ..caller import caller
from ..errors import (
    AccountDeleting,
    AwaitsVerification,
    InactiveAccount,
    IncorrectCredentials,
    InvalidCredentials,
    TooManyAttempts,
)
from ..guards import account_required
from ..sign_in.admitting import admits
from ..sign_in.entrance import come_in
from ..sign_in.password import Login
from . import cookie_examples as examples
from .blueprint import blueprint
from .by_cookie import answer_with_cookie, signs_in_by_cookie
from .cookie_door import CookieDoor
from .cookie_schemas import CookieSignIn, cookie_session_read
from .cross_site import CrossSite


@blueprint.post("/session", only_with=CookieDoor)
@anyone
@signs_in_by_cookie
@admits
@example(json=examples.SIGN_IN, answer=examples.SESSION)
@raises(IncorrectCredentials, InactiveAccount, AwaitsVerification, AccountDeleting)
@raises(TooManyAttempts, TooManyHashes)
@takes(json=CookieSignIn)
@answers(200, cookie_session_read)
def open_cookie_session(json: dict[str, Any]) -> dict[str, Any]:
    """Sign in by a cookie, with email and password"""
    come_in(cookie=True, otp=json["otp"])
    login = service(Login)
    return answer_with_cookie(login.with_password(json["email"], json["password"], address()))


@blueprint.get("/session", only_with=CookieDoor)
@account_required
@example(answer=examples.SESSION)
@answers(200, cookie_session_read)
def get_cookie_session() -> dict[str, Any]:
    """Get who is signed in, and until when"""
    found = caller()
    if found.session is None:
        raise InvalidCredentials
    return {"account": found.attached_account, "expires": found.session.expires_at}


@blueprint.delete("/session", only_with=CookieDoor)
@anyone
@example(answer=examples.SIGNED_OUT)
@raises(CrossSite)
@answers(200, Message)
def close_cookie_session() -> dict[str, str]:
    """Sign out of this browser: its session ends, and its cookie goes in any case"""
    service(CookieDoor).leave()
    clear_browser_cache()
    return {"message": "Signed out"}
