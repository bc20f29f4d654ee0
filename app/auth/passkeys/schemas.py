"""Credentials as browsers write them in JSON (WebAuthn level 3), and options as they read them."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any

from marshmallow import Schema, ValidationError, fields, post_load

from ...core.types import Loaded
from ...core.web.fields import EnumField, NamedEnum, RequestSchema, Text
from .relying_party import Assertion, Creation

# In bytes: the longest that the standard allows, and for the rest several times what is written.
CREDENTIAL_ID, USER_HANDLE = 1023, 64
CLIENT_DATA, AUTHENTICATOR_DATA, SIGNATURE, ATTESTATION = 4096, 4096, 1024, 16384
MOST_TRANSPORTS = 16

CREDENTIAL_TYPE = NamedEnum("CredentialType", ("public-key",))


class Base64Url(Text):
    """Bytes, in the one way that base64url writes them: without padding, and nothing between."""

    def __init__(self, *, most: int, empty: bool = False, **kwargs: Any) -> None:
        self.most = most
        super().__init__(
            min=0 if empty else 1,
            max=-(-most * 4 // 3),
            blank=True,
            pattern="^[A-Za-z0-9_-]*$",
            **kwargs,
        )

    def _deserialize(self, value: object, attr: object, data: object, **kwargs: object) -> Any:
        text = super()._deserialize(value, attr, data, **kwargs)
        try:
            read = urlsafe_b64decode(text + "=" * (-len(text) % 4))
        except ValueError:
            raise ValidationError("Not valid base64url.") from None
        if len(read) > self.most:
            raise ValidationError(f"Longer than {self.most} bytes.")
        if as_base64url(read) != text:
            raise ValidationError("Not valid base64url.")
        return read


def as_base64url(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


class CreationResponse(RequestSchema):
    clientDataJSON = Base64Url(most=CLIENT_DATA, required=True)
    attestationObject = Base64Url(most=ATTESTATION, required=True)
    transports = fields.List(
        Text(max=32), validate=lambda each: len(each) <= MOST_TRANSPORTS, load_default=list
    )


class AssertionResponse(RequestSchema):
    clientDataJSON = Base64Url(most=CLIENT_DATA, required=True)
    authenticatorData = Base64Url(most=AUTHENTICATOR_DATA, required=True)
    signature = Base64Url(most=SIGNATURE, required=True)
    userHandle = Base64Url(most=USER_HANDLE, empty=True, allow_none=True, load_default=None)


class _Credential(RequestSchema):
    id = Base64Url(most=CREDENTIAL_ID, required=True)
    type = EnumField(CREDENTIAL_TYPE, required=True)


class CreatedCredential(_Credential):
    """What `toJSON()` gives of a passkey that was made."""

    response = fields.Nested(CreationResponse, required=True)

    @post_load
    def as_creation(self, data: Loaded, **kwargs: object) -> Creation:
        found = data["response"]
        return Creation(
            data["id"], found["clientDataJSON"], found["attestationObject"], found["transports"]
        )


class AssertedCredential(_Credential):
    """What `toJSON()` gives of a passkey that was used."""

    response = fields.Nested(AssertionResponse, required=True)

    @post_load
    def as_assertion(self, data: Loaded, **kwargs: object) -> Assertion:
        found = data["response"]
        return Assertion(
            data["id"],
            found["clientDataJSON"],
            found["authenticatorData"],
            found["signature"],
            # Some authenticators write none as an empty one.
            found["userHandle"] or None,
        )


class CreationOptions(Schema):
    """For `PublicKeyCredential.parseCreationOptionsFromJSON`."""

    rp = fields.Dict(required=True)
    user = fields.Dict(required=True)
    challenge = fields.String(required=True)
    pubKeyCredParams = fields.List(fields.Dict(), required=True)
    timeout = fields.Integer(required=True, metadata={"description": "Milliseconds"})
    excludeCredentials = fields.List(fields.Dict(), required=True)
    authenticatorSelection = fields.Dict(required=True)
    attestation = fields.String(required=True)


class RequestOptions(Schema):
    """For `PublicKeyCredential.parseRequestOptionsFromJSON`."""

    rpId = fields.String(required=True)
    challenge = fields.String(required=True)
    timeout = fields.Integer(required=True, metadata={"description": "Milliseconds"})
    allowCredentials = fields.List(fields.Dict(), required=True)
    userVerification = fields.String(required=True)
