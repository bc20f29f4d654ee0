"""Credentials as browsers write them in JSON (WebAuthn level 3), and options as they read them."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any, TypedDict

from marshmallow import Schema, ValidationError, fields, post_load, validate

from ...core.coded_messages import CodedMessage
from ...core.web.fields import EnumField, NamedEnum, RequestSchema, Text, response_field
from .relying_party import Assertion, Creation

# Limits in bytes: the maximum of the standard, or several times the usual length.
CREDENTIAL_ID, USER_HANDLE = 1023, 64
CLIENT_DATA, AUTHENTICATOR_DATA, SIGNATURE, ATTESTATION = 4096, 4096, 1024, 16384
MAX_TRANSPORTS = 16

CREDENTIAL_TYPE = NamedEnum("CredentialType", ("public-key",))
NOT_BASE64 = CodedMessage("Not valid base64url.", "invalid_format", expected="base64url")


class Base64Url(Text):
    """Bytes in canonical base64url: without padding, spaces or unused bits."""

    def __init__(self, *, max_bytes: int, empty: bool = False, **kwargs: Any) -> None:
        self.max_bytes = max_bytes
        super().__init__(
            min=0 if empty else 1,
            max=-(-max_bytes * 4 // 3),
            blank=True,
            pattern="^[A-Za-z0-9_-]*$",
            **kwargs,
        )

    def _deserialize(self, value: object, attr: object, data: object, **kwargs: object) -> Any:
        text = super()._deserialize(value, attr, data, **kwargs)
        try:
            decoded = urlsafe_b64decode(text + "=" * (-len(text) % 4))
        except ValueError:
            raise ValidationError(NOT_BASE64) from None
        if len(decoded) > self.max_bytes:
            raise ValidationError(
                CodedMessage(f"Longer than {self.max_bytes} bytes.", "too_long", max=self.max_bytes)
            )
        if as_base64url(decoded) != text:
            raise ValidationError(NOT_BASE64)
        return decoded


def as_base64url(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


class CreationResponse(RequestSchema):
    class Input(TypedDict):
        clientDataJSON: bytes
        attestationObject: bytes
        transports: list[str]

    clientDataJSON = Base64Url(
        max_bytes=CLIENT_DATA,
        required=True,
        description="Client data of the ceremony, in base64url.",
    )
    attestationObject = Base64Url(
        max_bytes=ATTESTATION, required=True, description="Attestation object, in base64url."
    )
    transports = fields.List(
        Text(max=32),
        validate=validate.Length(max=MAX_TRANSPORTS),
        load_default=list,
        metadata={"description": "Transports of the authenticator, such as `internal`."},
    )


class AssertionResponse(RequestSchema):
    class Input(TypedDict):
        clientDataJSON: bytes
        authenticatorData: bytes
        signature: bytes
        userHandle: bytes | None

    clientDataJSON = Base64Url(
        max_bytes=CLIENT_DATA,
        required=True,
        description="Client data of the ceremony, in base64url.",
    )
    authenticatorData = Base64Url(
        max_bytes=AUTHENTICATOR_DATA, required=True, description="Authenticator data, in base64url."
    )
    signature = Base64Url(
        max_bytes=SIGNATURE, required=True, description="Signature, in base64url."
    )
    userHandle = Base64Url(
        max_bytes=USER_HANDLE,
        empty=True,
        allow_none=True,
        load_default=None,
        description="User handle, in base64url.",
    )


class _Credential(RequestSchema):
    class Input(TypedDict):
        id: bytes
        type: str

    id = Base64Url(
        max_bytes=CREDENTIAL_ID, required=True, description="Credential ID, in base64url."
    )
    type = EnumField(CREDENTIAL_TYPE, required=True, description="Type of the credential.")


class CreatedCredential(_Credential):
    class Input(_Credential.Input):
        response: CreationResponse.Input

    response = fields.Nested(
        CreationResponse,
        required=True,
        metadata={"description": "Response of the authenticator to the registration."},
    )

    @post_load
    def as_creation(self, data: Input, **kwargs: object) -> Creation:
        found = data["response"]
        return Creation(
            data["id"], found["clientDataJSON"], found["attestationObject"], found["transports"]
        )


class AssertedCredential(_Credential):
    class Input(_Credential.Input):
        response: AssertionResponse.Input

    response = fields.Nested(
        AssertionResponse,
        required=True,
        metadata={"description": "Response of the authenticator to the sign-in."},
    )

    @post_load
    def as_assertion(self, data: Input, **kwargs: object) -> Assertion:
        found = data["response"]
        return Assertion(
            data["id"],
            found["clientDataJSON"],
            found["authenticatorData"],
            found["signature"],
            # Some authenticators send an empty handle in place of none.
            found["userHandle"] or None,
        )


class CreationOptions(Schema):
    """For `PublicKeyCredential.parseCreationOptionsFromJSON`."""

    rp = response_field(fields.Dict, "Relying party: the name and domain of the service.")
    user = response_field(fields.Dict, "User for whom the passkey is created.")
    challenge = response_field(
        fields.String, "Challenge, in base64url. It is valid for five minutes and one use."
    )
    pubKeyCredParams = response_field(
        fields.List, "Accepted signature algorithms, in order of preference.", fields.Dict()
    )
    timeout = response_field(fields.Integer, "Time to wait for the user, in milliseconds.")
    excludeCredentials = response_field(
        fields.List, "Passkeys that the account already has.", fields.Dict()
    )
    authenticatorSelection = response_field(fields.Dict, "Requirements for the authenticator.")
    attestation = response_field(fields.String, "Requested attestation.")


class RequestOptions(Schema):
    """For `PublicKeyCredential.parseRequestOptionsFromJSON`."""

    rpId = response_field(fields.String, "Domain of the service.")
    challenge = response_field(
        fields.String, "Challenge, in base64url. It is valid for five minutes and one use."
    )
    timeout = response_field(fields.Integer, "Time to wait for the user, in milliseconds.")
    allowCredentials = response_field(
        fields.List, "Passkeys that are accepted; an empty list accepts all.", fields.Dict()
    )
    userVerification = response_field(
        fields.String, "Whether the user must unlock the authenticator."
    )
