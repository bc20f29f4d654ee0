from __future__ import annotations

from functools import cache
from typing import Any, NotRequired, TypedDict

from flask import has_app_context
from marshmallow import Schema, ValidationError, fields, missing, validates_schema

from ..accounts.passwords import MAX_BYTES, MIN_LENGTH, find_password_error
from ..accounts.schemas import AccountRead
from ..core.coded_messages import DISABLED, REQUIRED
from ..core.context import current_frontdesk
from ..core.web.fields import EnumField, NamedEnum, RequestSchema, Text, Timestamp, response_field
from .proofs import SHORTEST_TOKEN, is_code
from .settings import AuthSettings

TOKEN_TYPE = NamedEnum("TokenType", ("bearer",))


class _Password(Text):
    """A password: rejected, and never required, if AUTH.PASSWORDS is off."""

    def deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        # Tests and tools load schemas without an application.
        if has_app_context() and current_frontdesk.settings.of(AuthSettings).PASSWORDS == "off":
            if value is missing and self.required:
                return None
            if value is not missing and value is not None:
                raise ValidationError(DISABLED)
        return super().deserialize(value, *args, **kwargs)


class _KnownPassword(Text):
    """A password of an account: one that cannot exist is rejected as a wrong password."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max=1024, metadata={"format": "password"}, **options)

    def _deserialize(self, value: object, attr: object, data: object, **kwargs: object) -> str:
        if not isinstance(value, str):
            raise self.make_error("invalid")
        return value


class PasswordField(_KnownPassword, _Password):
    """The same, for routes that also take other proofs."""


def password_unless_fresh() -> PasswordField:
    """Return the field for the password of routes that a recent sign-in opens without it."""
    text = (
        "Password of the account; required if the last sign-in is older than `AUTH__FRESH_MINUTES`."
    )
    return PasswordField(load_default=None, description=text)


class LoginForm(RequestSchema):
    class Input(TypedDict):
        username: str
        password: str

    username = Text(
        min=1, blank=True, max=320, required=True, description="Email address of the account."
    )
    # The sign-in itself checks that AUTH.PASSWORDS is on.
    password = _KnownPassword(required=True, description="Password of the account.")


class LoginFormWithFactor(LoginForm):
    class Input(LoginForm.Input):
        otp: NotRequired[str]
        trusted_device: NotRequired[str]

    otp = Text(
        min=1,
        max=16,
        blank=True,
        description="Code of an authenticator app, to sign in with MFA in one request.",
    )
    trusted_device = Text(
        min=1,
        max=100,
        blank=True,
        description="Secret of a trusted device, instead of the header `X-Trusted-Device`.",
    )


class PasswordRecovery(RequestSchema):
    class Input(TypedDict):
        email: str

    email = Text(
        min=1, blank=True, max=320, required=True, description="Email address of the account."
    )


class VerifyToken(RequestSchema):
    class Meta(RequestSchema.Meta):
        json_schema = {
            "if": {"properties": {"token": {"maxLength": SHORTEST_TOKEN - 1}}},
            "then": {"properties": {"email": {}}, "required": ["email"]},
        }

    class Input(TypedDict):
        token: str
        email: NotRequired[str]

    token = Text(
        min=1, max=1024, required=True, description="Long token or short code from the email."
    )
    email = Text(
        min=1,
        blank=True,
        max=320,
        description="Email address of the account; required with a short code.",
    )

    @validates_schema
    def require_email_with_code(self, data: Input, **kwargs: object) -> None:
        if is_code(data.get("token", "")) and data.get("email") is None:
            raise ValidationError(REQUIRED, "email")


class NewPassword(_Password):
    def __init__(self, *, description: str = "New password.", **more: Any) -> None:
        super().__init__(
            min=MIN_LENGTH,
            max=MAX_BYTES,
            description=f"{description} At most {MAX_BYTES} bytes in UTF-8, without NUL.",
            metadata={"format": "password"},
            **{"required": True, **more},
        )

    def _deserialize(self, value: object, attr: object, data: object, **kwargs: object) -> str:
        password = super()._deserialize(value, attr, data, **kwargs)
        if reason := find_password_error(password):
            raise ValidationError(reason)
        return password


class ResetPassword(VerifyToken):
    class Input(VerifyToken.Input):
        new_password: str

    new_password = NewPassword()


class ChangePassword(RequestSchema):
    class Input(TypedDict):
        current_password: str | None
        new_password: str

    current_password = PasswordField(
        load_default=None, description="Current password; required if the account has one."
    )
    new_password = NewPassword()


class ChangeEmail(RequestSchema):
    class Input(TypedDict):
        email: str
        password: str | None

    email = Text(min=1, max=320, required=True, description="New email address.")
    password = password_unless_fresh()


class ConfirmEmailChange(VerifyToken):
    class Input(VerifyToken.Input):
        password: str | None

    password = PasswordField(
        load_default=None, description="Password of the account; required without an access token."
    )


class MailedToken(RequestSchema):
    class Input(TypedDict):
        token: str

    token = Text(min=1, max=1024, required=True, description="Token from the link.")


class LoginRead(Schema):
    """The response of a sign-in. Subclass it to add fields."""

    access_token = response_field(
        fields.String, "Access token (JWT) for the header `Authorization: Bearer`."
    )
    expires = response_field(Timestamp, "When the access token expires.")
    token_type = response_field(EnumField, "Type of the token, always `bearer`.", TOKEN_TYPE)
    account = response_field(fields.Nested, "Account that is signed in.", AccountRead)
    user: fields.Field[Any] = response_field(
        fields.Raw,
        "Membership in the current workspace, or `null`.",
        allow_none=True,
        metadata={"type": "object", "default": None},
    )


def account_read() -> type[Schema]:
    return current_frontdesk.schemas.get("account", AccountRead)


def login_form() -> type[Schema]:
    is_on = current_frontdesk.settings.of(AuthSettings).MFA != "off"
    return LoginFormWithFactor if is_on else LoginForm


def login_read() -> type[Schema]:
    login = current_frontdesk.schemas.get("login", LoginRead)
    if current_frontdesk.settings.of(AuthSettings).refreshes:
        login = _with_refresh(login)
    return _with_account(login, account_read())


@cache
def _with_refresh(login: type[Schema]) -> type[Schema]:
    """Return the login response with the fields that clients must request."""
    more = {
        "refresh_token": fields.String(metadata={"description": "Good once, at `/token`"}),
        "refresh_expires": Timestamp(metadata={"description": "Its end, if it is not used"}),
    }
    return type(login.__name__, (login,), more)


@cache
def _with_account(login: type[Schema], account: type[Schema]) -> type[Schema]:
    """Return the login response with the application's account schema."""
    if account is AccountRead:
        return login
    return type(login.__name__, (login,), {"account": fields.Nested(account, required=True)})
