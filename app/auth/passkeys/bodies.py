"""Request bodies of the passkey routes, and examples for the OpenAPI document."""

from typing import TypedDict

from marshmallow import fields

from ...core.web.fields import RequestSchema, Text
from ..examples import EMAIL
from ..examples import SIGNED_IN as SIGNED_IN
from ..mfa.models import NAME_LENGTH
from ..mfa.schemas import ENROLLED as ENROLLED
from ..mfa.schemas import MfaTokenField, enrollment_token
from ..sessions.schemas import COOKIE_SESSION as COOKIE_SESSION
from ..webauthn.relying_party import Assertion, Creation
from ..webauthn.schemas import AssertedCredential, CreatedCredential


class PasskeyBegin(RequestSchema):
    class Meta(RequestSchema.Meta):
        # A signed-in caller needs no body.
        may_be_missing = True

    class Input(TypedDict):
        mfa_token: str | None

    mfa_token = enrollment_token()


class NewPasskey(RequestSchema):
    class Input(TypedDict):
        name: str
        credential: Creation
        mfa_token: str | None

    name = Text(
        min=1, max=NAME_LENGTH, strip=True, required=True, description="Name of the passkey."
    )
    credential = fields.Nested(
        CreatedCredential,
        required=True,
        metadata={"description": "Credential that `navigator.credentials.create()` returned."},
    )
    mfa_token = enrollment_token()


class PasskeyLoginBegin(RequestSchema):
    class Meta(RequestSchema.Meta):
        may_be_missing = True

    class Input(TypedDict):
        mfa_token: str | None

    mfa_token = MfaTokenField(
        load_default=None,
        description="Token from a response with the code `mfa_required`, to use a passkey for MFA.",
    )


class ShownPasskey(RequestSchema):
    class Input(TypedDict):
        credential: Assertion

    credential = fields.Nested(
        AssertedCredential,
        required=True,
        metadata={"description": "Credential that `navigator.credentials.get()` returned."},
    )


_CHALLENGE = "AAAAAHDbmgB5Tm90IGEgbm9uY2Ugb2YgYW55Ym9keSdzLi4u"
_CREDENTIAL_ID = "mXUxHCxGmSkNyGSrYhxpE6QIDl0dPR4QbTVLNpfvb9s"
_DESCRIPTOR = {"type": "public-key", "id": _CREDENTIAL_ID, "transports": ["hybrid", "internal"]}
CREATION_OPTIONS = {
    "rp": {"id": "example.com", "name": "Frontdesk"},
    "user": {"id": "dGhlIHNhbWUgZm9yIGFsbCBvZiB0aGVtLi4u", "name": EMAIL, "displayName": EMAIL},
    "challenge": _CHALLENGE,
    "pubKeyCredParams": [{"type": "public-key", "alg": -7}],
    "timeout": 300000,
    "excludeCredentials": [_DESCRIPTOR],
    "authenticatorSelection": {
        "residentKey": "required",
        "requireResidentKey": True,
        "userVerification": "required",
    },
    "attestation": "none",
}
REQUEST_OPTIONS = {
    "rpId": "example.com",
    "challenge": _CHALLENGE,
    "timeout": 300000,
    "allowCredentials": [],
    "userVerification": "required",
}
_CLIENT_DATA = "eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0"
NEW_PASSKEY = {
    "name": "Laptop",
    "credential": {
        "id": _CREDENTIAL_ID,
        "type": "public-key",
        "response": {
            "clientDataJSON": _CLIENT_DATA,
            "attestationObject": "o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YUA",
            "transports": ["hybrid", "internal"],
        },
    },
}
SHOWN_PASSKEY = {
    "credential": {
        "id": _CREDENTIAL_ID,
        "type": "public-key",
        "response": {
            "clientDataJSON": _CLIENT_DATA,
            "authenticatorData": "SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAA",
            "signature": "MEUCIQD2c2lnbmF0dXJl",
            "userHandle": "dGhlIHNhbWUgZm9yIGFsbCBvZiB0aGVtLi4u",
        },
    }
}
PASSKEY = {
    "id": 7,
    "kind": "passkey",
    "name": "Laptop",
    "created_at": "2030-01-01T12:00:00+00:00",
    "last_used_at": None,
}
