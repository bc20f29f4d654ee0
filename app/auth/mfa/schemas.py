"""Schemas of requests and responses, with the examples of the OpenAPI document."""

from __future__ import annotations

from functools import cache
from typing import Any

from marshmallow import Schema, ValidationError, fields, validates_schema

from ...core.types import Loaded
from ...core.web.fields import EnumField, NamedEnum, RequestSchema, Text, Timestamp
from ..examples import SIGNED_IN
from ..passkeys.schemas import AssertedCredential
from ..schemas import login_read
from ..sign_in.options import PASSKEY, RECOVERY_CODE, TOTP
from .mfa_tokens import LONGEST_TOKEN
from .models import NAME_LENGTH, PASSKEY_KIND, TOTP_KIND

AUTHENTICATOR_KIND = NamedEnum("AuthenticatorKind", (TOTP_KIND, PASSKEY_KIND))
_SHOWN_ONCE = "Not shown again"
_MFA_TOKEN = {
    "description": "Token from a response with the code `mfa_enrolment_required`, instead of an"
    " access token."
}
# The field of a request for each kind of factor.
FACTOR_FIELDS = {"otp": TOTP, "recovery_code": RECOVERY_CODE, "credential": PASSKEY}


def one_time_code(**more: Any) -> Text:
    return Text(
        min=1,
        max=16,
        blank=True,
        metadata={"description": "The code of an authenticator app"},
        **more,
    )


class MfaTokenField(Text):
    def __init__(self, **more: Any) -> None:
        super().__init__(min=1, max=LONGEST_TOKEN, blank=True, **more)


class SecondStepForm(RequestSchema):
    mfa_token = MfaTokenField(
        required=True,
        metadata={"description": "Token from the response with the code `mfa_required`."},
    )
    otp = one_time_code()
    recovery_code = Text(
        min=1, max=32, blank=True, metadata={"description": "An unused recovery code."}
    )
    credential = fields.Nested(
        AssertedCredential,
        metadata={
            "description": "Passkey assertion for the options of `POST /login/passkey/options`."
        },
    )
    trust = fields.Boolean(
        load_default=False,
        truthy={True},
        falsy={False},
        metadata={
            "description": "Trust this device: do not ask it for MFA for `AUTH__MFA_TRUST_DAYS`"
            " days."
        },
    )

    @validates_schema(skip_on_field_errors=True)
    def require_one(self, data: Loaded, **kwargs: object) -> None:
        if sum(name in data for name in FACTOR_FIELDS) != 1:
            raise ValidationError("Send one of: otp, recovery_code, credential.", "otp")


class AppBegin(RequestSchema):
    class Meta(RequestSchema.Meta):
        # A signed-in caller needs no body: the name is optional.
        may_be_missing = True

    name = Text(
        min=1,
        max=NAME_LENGTH,
        strip=True,
        load_default=None,
        allow_none=True,
        metadata={"description": "Name of the authenticator app."},
    )
    mfa_token = MfaTokenField(load_default=None, metadata=_MFA_TOKEN)


class AppConfirm(RequestSchema):
    otp = one_time_code(required=True)
    mfa_token = MfaTokenField(load_default=None, metadata=_MFA_TOKEN)


class AuthenticatorEdit(RequestSchema):
    name = Text(
        min=1,
        max=NAME_LENGTH,
        strip=True,
        required=True,
        metadata={"description": "New name of the MFA method."},
    )


class AuthenticatorRead(Schema):
    id = fields.Integer(required=True, metadata={"description": "ID of the MFA method."})
    kind = EnumField(
        AUTHENTICATOR_KIND, required=True, metadata={"description": "Type of the MFA method."}
    )
    name = fields.String(required=True, metadata={"description": "Name of the MFA method."})
    created_at = Timestamp(
        required=True, metadata={"description": "When the MFA method was created."}
    )
    last_used_at = Timestamp(
        required=True, allow_none=True, metadata={"description": "When it was last used."}
    )


class AppRead(Schema):
    id = fields.Integer(required=True, metadata={"description": "ID of the authenticator app."})
    secret = fields.String(
        required=True,
        metadata={"description": "Secret key in Base32. It is shown only in this response."},
    )
    uri = fields.String(
        required=True, metadata={"description": "`otpauth:` URI that the QR code contains."}
    )
    qr = fields.String(required=True, metadata={"description": "QR code as an SVG document."})


class RecoveryCodesRead(Schema):
    recovery_codes = fields.List(
        fields.String(),
        required=True,
        metadata={"description": "Recovery codes. They are shown only in this response."},
    )


class RecoveryCodesLeft(Schema):
    left = fields.Integer(
        required=True, metadata={"description": "Number of unused recovery codes."}
    )


class TrustedDeviceRead(Schema):
    id = fields.Integer(required=True, metadata={"description": "ID of the trusted device."})
    user_agent = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "`User-Agent` header of the client."},
    )
    ip = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "description": "IP address or network of the device, as `AUTH__SESSION_ADDRESSES`"
            " stores it."
        },
    )
    created_at = Timestamp(
        required=True, metadata={"description": "When the trusted device was created."}
    )
    last_used_at = Timestamp(
        required=True, allow_none=True, metadata={"description": "When it was last used."}
    )
    expires_at = Timestamp(
        required=True, metadata={"description": "When the device is no longer trusted."}
    )


class FactorsReset(Schema):
    authenticators = fields.Integer(
        required=True, metadata={"description": "Number of MFA methods that were removed."}
    )


def second_step_read() -> type[Schema]:
    return with_trusted_device("SecondStepRead", login_read())


@cache
def with_trusted_device(name: str, base: type[Schema]) -> type[Schema]:
    """Return the response of a sign-in with the secret of a newly trusted device."""
    about = {"description": f"Secret for the header `X-Trusted-Device`. {_SHOWN_ONCE}"}
    return type(name, (base,), {"trusted_device": fields.String(metadata=about)})


def enrolled_read() -> type[Schema]:
    return _enrolled(login_read())


@cache
def _enrolled(login: type[Schema]) -> type[Schema]:
    """Return the login response with the recovery codes that come with a first factor."""
    codes = fields.List(
        fields.String(), required=True, allow_none=True, metadata={"description": _SHOWN_ONCE}
    )
    return type("EnrolledRead", (login,), {"recovery_codes": codes})


MFA_TOKEN = "W1siMSIsWyJwYXNzd29yZCJdXV0.aXQgaXM.c2lnbmVk"
SECOND_STEP = {"mfa_token": MFA_TOKEN, "otp": "287082", "trust": True}
TRUSTED = {**SIGNED_IN, "trusted_device": "b3Blbi1zZXNhbWUtb3Blbi1zZXNhbWUtb3Blbi1zZXM"}
BEGIN = {"name": "Phone"}
APP = {
    "id": 1,
    "secret": "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ",
    "uri": "otpauth://totp/Frontdesk%3Aada@example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    "&issuer=Frontdesk&digits=6&period=30",
    "qr": '<svg viewBox="0 0 53 53"></svg>',
}
CONFIRM = {"otp": "287082"}
CODES = [f"{half}-k4f8" for half in ("7hqd", "m2xw", "9rta", "c6pn", "vb3e")]
ENROLLED = {**SIGNED_IN, "recovery_codes": CODES}
AUTHENTICATOR = {
    "id": 1,
    "kind": "totp",
    "name": "Phone",
    "created_at": "2030-01-01T12:00:00+00:00",
    "last_used_at": "2030-01-02T09:30:00+00:00",
}
NAME = {"name": "Old phone"}
RENAMED = {**AUTHENTICATOR, **NAME}
RECOVERY_CODES = {"recovery_codes": CODES}
LEFT = {"left": 9}
DEVICE = {
    "id": 1,
    "user_agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "ip": "192.0.2.0/24",
    "created_at": "2030-01-01T12:00:00+00:00",
    "last_used_at": None,
    "expires_at": "2030-01-31T12:00:00+00:00",
}
RESET = {"authenticators": 2}
