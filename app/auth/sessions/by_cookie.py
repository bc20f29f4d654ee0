"""For routes that sign in by a cookie, in whichever package they are.

Such a route is written `@blueprint.post("/session/…", only_with=CookieSessions)`, with
`@signs_in_by_cookie` below `@anyone`, and answers `cookie_session_read`.
"""

from __future__ import annotations

from functools import cache

from marshmallow import Schema, fields

from ...accounts.schemas import AccountRead
from ...core.context import service
from ...core.web.fields import RequestSchema, Text, Timestamp
from ..caller import caller
from ..decorators import guard
from ..examples import ACCOUNT
from ..schemas import PasswordField, account_read
from ..sign_in.options import COOKIE_WAY
from .cookie_sessions import CookieSessions
from .cookies import CrossSite


@guard(CrossSite, bearer=False)
def signs_in_by_cookie() -> None:
    """The sign-in of this route gives its session as a cookie; another site's page is refused."""
    service(CookieSessions).enter()


def forget_cookie() -> None:
    """The caller's own session has ended: if it is a cookie that names it, that goes too."""
    if caller().via == COOKIE_WAY:
        service(CookieSessions).cookies.take_away()


class CookieSignIn(RequestSchema):
    email = Text(
        min=1,
        blank=True,
        max=320,
        required=True,
        metadata={"description": "Email address of the account."},
    )
    password = PasswordField(
        max=1024,
        required=True,
        metadata={"description": "Password of the account.", "format": "password"},
    )
    otp = Text(
        max=64,
        load_default=None,
        metadata={"description": "Code of an authenticator app, if the account uses MFA."},
    )


class CookieSessionRead(Schema):
    """The response of a sign-in by cookie, without a token that a script could read."""

    account = fields.Nested(
        AccountRead, required=True, metadata={"description": "Account that is signed in."}
    )
    expires = Timestamp(
        required=True, metadata={"description": "When the session expires at the latest."}
    )


def cookie_session_read() -> type[Schema]:
    return _with_account(account_read())


@cache
def _with_account(account: type[Schema]) -> type[Schema]:
    if account is AccountRead:
        return CookieSessionRead
    shown = {"account": fields.Nested(account, required=True)}
    return type("CookieSessionRead", (CookieSessionRead,), shown)


SIGN_IN = {"email": "ada@example.com", "password": "correct horse battery"}
SESSION = {"account": ACCOUNT, "expires": "2030-01-31T12:00:00+00:00"}
SIGNED_OUT = {"message": "Signed out"}
