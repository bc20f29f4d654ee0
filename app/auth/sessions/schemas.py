"""Schemas and errors of sessions, and the examples of the OpenAPI document."""

from functools import cache
from typing import TypedDict

from marshmallow import Schema, fields

from ...accounts.schemas import AccountRead
from ...core.errors import BadRequest, NotFound
from ...core.web.fields import (
    EnumField,
    NamedEnum,
    RequestSchema,
    StrictBoolean,
    Text,
    Timestamp,
    response_field,
)
from ..examples import ACCOUNT, SIGNED_IN
from ..schemas import PasswordField, account_read
from .models import COOKIE, TOKEN

KIND = NamedEnum("SessionKind", (TOKEN, COOKIE))


class SessionRead(Schema):
    id = response_field(fields.String, "ID of the session, the claim `sid` of its access tokens.")
    current = response_field(fields.Boolean, "Whether this session sent the request.")
    kind = response_field(EnumField, "Whether the session uses access tokens or a cookie.", KIND)
    created_at = response_field(Timestamp, "When the session was created.")
    used_at = response_field(Timestamp, "When the session was last used, to the hour.")
    expires_at = response_field(Timestamp, "When the session expires at the latest.")
    ip = response_field(
        fields.String,
        "IP address or network of the sign-in, as `AUTH__SESSION_ADDRESSES` stores it.",
        allow_none=True,
    )
    user_agent = response_field(
        fields.String, "`User-Agent` header of the client.", allow_none=True
    )
    label = response_field(
        fields.String, "Browser and operating system, such as `Firefox on Linux`.", allow_none=True
    )
    amr = response_field(
        fields.List, "Authentication methods of the sign-in (RFC 8176).", fields.String()
    )


class EndSessions(RequestSchema):
    class Input(TypedDict):
        others: bool

    others = StrictBoolean(
        load_default=False, description="`true` keeps the session that sends the request."
    )


class EndedSessions(Schema):
    ended = response_field(fields.Integer, "Number of sessions that were ended.")


class TokenField(Text):
    """A refresh token: a malformed token is an invalid token, not an invalid field."""

    def _deserialize(self, value: object, attr: object, data: object, **kwargs: object) -> str:
        return str(value)

    def _validate(self, value: object) -> None:
        return None


class Grant(RequestSchema):
    class Input(TypedDict):
        grant_type: str
        refresh_token: str

    grant_type = Text(min=1, max=64, required=True, description="Always `refresh_token`.")
    refresh_token = TokenField(
        max=1024,
        required=True,
        description="Refresh token from the last sign-in or refresh.",
        metadata={"format": "password"},
    )


class CookieSignIn(RequestSchema):
    class Input(TypedDict):
        email: str
        password: str
        otp: str | None

    email = Text(
        min=1, blank=True, max=320, required=True, description="Email address of the account."
    )
    password = PasswordField(required=True, description="Password of the account.")
    otp = Text(
        max=64,
        load_default=None,
        description="Code of an authenticator app, if the account uses MFA.",
    )


class CookieSessionRead(Schema):
    """The response of a sign-in by cookie, without a token that a script could read."""

    account = response_field(fields.Nested, "Account that is signed in.", AccountRead)
    expires = response_field(Timestamp, "When the session expires at the latest.")


def cookie_session_read() -> type[Schema]:
    return _with_account(account_read())


@cache
def _with_account(account: type[Schema]) -> type[Schema]:
    if account is AccountRead:
        return CookieSessionRead
    shown = {"account": fields.Nested(account, required=True)}
    return type("CookieSessionRead", (CookieSessionRead,), shown)


class SessionNotFound(NotFound):
    """The account has no active session with the id."""

    code = "session_not_found"
    detail = "Session not found"
    title = "The session does not exist"
    cause = "The account has no active session with this id."
    fix = "List the sessions with `GET /sessions`, or with the admin API for another account."


class InvalidGrant(BadRequest):
    """An unknown, expired, used or malformed refresh token: the response does not say which."""

    code = "invalid_grant"
    detail = "Invalid token"
    title = "The refresh token is not valid"
    cause = "The refresh token is unknown, expired, revoked or already used."
    fix = "Sign in again."
    security_event = "sign_in"


class UnsupportedGrant(BadRequest):
    """The grant is not `refresh_token`, or refresh tokens are disabled."""

    code = "unsupported_grant_type"
    detail = "This grant is not supported"
    title = "The grant type is not supported"
    cause = "`grant_type` is not `refresh_token`, or refresh tokens are switched off."
    fix = (
        "Send `refresh_token` as `grant_type`. Operators enable refresh tokens with"
        " `AUTH__REFRESH_TOKEN_DAYS`."
    )


SESSION = {
    "id": "6f9d1c0e-7b3a-4f52-a8c4-6b1d9e0f7a35",
    "current": True,
    "kind": "token",
    "created_at": "2030-01-01T12:00:00+00:00",
    "used_at": "2030-01-03T08:00:00+00:00",
    "expires_at": "2030-01-31T12:00:00+00:00",
    "ip": "203.0.113.0/24",
    "user_agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "label": "Firefox on Linux",
    "amr": ["pwd"],
}
ENDED = {"ended": 2}
REFRESH_TOKEN = "fdr_AW-dHA57Ok9SqMRrHZ4PejUAAAAAAAAAAUm2nqkZ0yJx1d3VbWc0m7t0bqf3c9d2yE1sXv0aK9Qw"
GRANT = {"grant_type": "refresh_token", "refresh_token": REFRESH_TOKEN}
REFRESHED = {
    **SIGNED_IN,
    "refresh_token": REFRESH_TOKEN,
    "refresh_expires": "2030-01-15T12:00:00+00:00",
}
COOKIE_SIGN_IN = {"email": "ada@example.com", "password": "correct horse battery"}
COOKIE_SESSION = {"account": ACCOUNT, "expires": "2030-01-31T12:00:00+00:00"}
SIGNED_OUT = {"message": "Signed out"}
