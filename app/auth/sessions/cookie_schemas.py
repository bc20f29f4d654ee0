from __future__ import annotations

from functools import cache

from marshmallow import Schema, fields

from ...accounts.schemas import AccountRead
from ...core.web.fields import Moment, Received, Text
from ..schemas import GivenPassword, account_read


class CookieSignIn(Received):
    email = Text(min=1, blank=True, max=320, required=True)
    password = GivenPassword(max=1024, required=True, metadata={"format": "password"})
    otp = Text(
        max=64,
        load_default=None,
        metadata={"description": "The code of a second factor, where the account has one"},
    )


class CookieSessionRead(Schema):
    """Who is signed in by a cookie. There is no token in it, which a script could read."""

    account = fields.Nested(AccountRead, required=True)
    expires = Moment(required=True, metadata={"description": "When the session ends at the latest"})


def cookie_session_read() -> type[Schema]:
    return _with_account(account_read())


@cache
def _with_account(account: type[Schema]) -> type[Schema]:
    if account is AccountRead:
        return CookieSessionRead
    shown = {"account": fields.Nested(account, required=True)}
    return type("CookieSessionRead", (CookieSessionRead,), shown)
