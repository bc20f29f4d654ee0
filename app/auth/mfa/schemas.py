"""Schemas of requests and responses, with the examples of the OpenAPI document."""

from functools import cache
from typing import Any, NotRequired, TypedDict

from marshmallow import Schema, ValidationError, fields, validates_schema

from ...core.coded_messages import exactly_one
from ...core.web.fields import EnumField, NamedEnum, RequestSchema, Text, Timestamp, response_field
from ..examples import SIGNED_IN
from ..proof_names import PASSKEY, RECOVERY_CODE, TOTP
from ..schemas import TOKEN_TYPE, login_read
from ..webauthn.relying_party import Assertion
from ..webauthn.schemas import AssertedCredential
from .mfa_tokens import LONGEST_TOKEN
from .models import NAME_LENGTH, PASSKEY_KIND, TOTP_KIND

AUTHENTICATOR_KIND = NamedEnum("AuthenticatorKind", (TOTP_KIND, PASSKEY_KIND))
_SHOWN_ONCE = "Not shown again"
# The field of a request for each kind of factor.
FACTOR_FIELDS = {"otp": TOTP, "recovery_code": RECOVERY_CODE, "credential": PASSKEY}


def one_time_code(**more: Any) -> Text:
    return Text(min=1, max=16, blank=True, description="The code of an authenticator app", **more)


class MfaTokenField(Text):
    def __init__(self, **more: Any) -> None:
        super().__init__(min=1, max=LONGEST_TOKEN, blank=True, **more)


def enrollment_token() -> MfaTokenField:
    text = (
        "Token from a response with the code `mfa_enrolment_required`, instead of an access token."
    )
    return MfaTokenField(load_default=None, description=text)


class SecondStepForm(RequestSchema):
    class Input(TypedDict):
        mfa_token: str
        otp: NotRequired[str]
        recovery_code: NotRequired[str]
        credential: NotRequired[Assertion]
        trust: bool

    mfa_token = MfaTokenField(
        required=True, description="Token from the response with the code `mfa_required`."
    )
    otp = one_time_code()
    recovery_code = Text(min=1, max=32, blank=True, description="An unused recovery code.")
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
    def require_one(self, data: Input, **kwargs: object) -> None:
        message = "Send one of: otp, recovery_code, credential."
        if fault := exactly_one(message, [name for name in FACTOR_FIELDS if name in data]):
            raise ValidationError(fault, "otp")


class AppBegin(RequestSchema):
    class Meta(RequestSchema.Meta):
        # A signed-in caller needs no body: the name is optional.
        may_be_missing = True

    class Input(TypedDict):
        name: str | None
        mfa_token: str | None

    name = Text(
        min=1,
        max=NAME_LENGTH,
        strip=True,
        load_default=None,
        allow_none=True,
        description="Name of the authenticator app.",
    )
    mfa_token = enrollment_token()


class AppConfirm(RequestSchema):
    class Input(TypedDict):
        otp: str
        mfa_token: str | None

    otp = one_time_code(required=True)
    mfa_token = enrollment_token()


class AuthenticatorEdit(RequestSchema):
    class Input(TypedDict):
        name: str

    name = Text(
        min=1, max=NAME_LENGTH, strip=True, required=True, description="New name of the MFA method."
    )


class AuthenticatorRead(Schema):
    id = response_field(fields.Integer, "ID of the MFA method.")
    kind = response_field(EnumField, "Type of the MFA method.", AUTHENTICATOR_KIND)
    name = response_field(fields.String, "Name of the MFA method.")
    created_at = response_field(Timestamp, "When the MFA method was created.")
    last_used_at = response_field(Timestamp, "When it was last used.", allow_none=True)


class NewToken(Schema):
    """Without stored sessions, the earlier tokens have ended, the caller's too."""

    access_token = fields.String(
        metadata={"description": "New access token, without `AUTH__SESSIONS`."}
    )
    expires = Timestamp(metadata={"description": "When the new access token expires."})
    token_type = EnumField(
        TOKEN_TYPE, metadata={"description": "Type of the new token, always `bearer`."}
    )


class RemovedAuthenticator(AuthenticatorRead, NewToken):
    """The removed MFA method."""


class AppRead(Schema):
    id = response_field(fields.Integer, "ID of the authenticator app.")
    secret = response_field(
        fields.String, "Secret key in Base32. It is shown only in this response."
    )
    uri = response_field(fields.String, "`otpauth:` URI that the QR code contains.")
    qr = response_field(fields.String, "QR code as an SVG document.")


class RecoveryCodesRead(NewToken):
    recovery_codes = response_field(
        fields.List, "Recovery codes. They are shown only in this response.", fields.String()
    )


class RecoveryCodesLeft(Schema):
    left = response_field(fields.Integer, "Number of unused recovery codes.")


class TrustedDeviceRead(Schema):
    id = response_field(fields.Integer, "ID of the trusted device.")
    user_agent = response_field(
        fields.String, "`User-Agent` header of the client.", allow_none=True
    )
    ip = response_field(
        fields.String,
        "IP address or network of the device, as `AUTH__SESSION_ADDRESSES` stores it.",
        allow_none=True,
    )
    created_at = response_field(Timestamp, "When the trusted device was created.")
    last_used_at = response_field(Timestamp, "When it was last used.", allow_none=True)
    expires_at = response_field(Timestamp, "When the device is no longer trusted.")


class FactorsReset(Schema):
    authenticators = response_field(fields.Integer, "Number of MFA methods that were removed.")


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
