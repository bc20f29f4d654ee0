"""What WebAuthn calls the relying party: this service, for which a passkey is made and to which it
answers. What a browser hands over is checked here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

import orjson

from ...core.config.settings import CoreSettings
from ..errors import PasskeyRefused
from ..settings import AuthSettings
from .plain_cbor import UnsupportedCbor, read

CREATION, ASSERTION = "webauthn.create", "webauthn.get"
# EdDSA, ES256, RS256: the requested and accepted algorithms.
ALGORITHMS = (-8, -7, -257)
# Transports of authenticators; unknown ones are ignored.
TRANSPORTS = frozenset(("ble", "cable", "hybrid", "internal", "nfc", "smart-card", "usb"))
_HAS_CREDENTIAL, _HAS_EXTENSIONS = 0x40, 0x80

Checked = TypeVar("Checked")


class Creation(NamedTuple):
    """What `navigator.credentials.create` gives."""

    id: bytes
    client_data: bytes
    attestation: bytes
    transports: Sequence[str]


class Assertion(NamedTuple):
    """What `navigator.credentials.get` gives."""

    id: bytes
    client_data: bytes
    authenticator_data: bytes
    signature: bytes
    user_handle: bytes | None


class VerifiedCreation(NamedTuple):
    public_key: bytes
    sign_count: int
    aaguid: str
    is_backed_up: bool


class VerifiedAssertion(NamedTuple):
    sign_count: int
    is_backed_up: bool


@dataclass(frozen=True)
class RelyingParty:
    id: str
    name: str
    origins: Sequence[str]

    @classmethod
    def of(cls, core: CoreSettings, auth: AuthSettings) -> RelyingParty:
        pages = urlsplit(core.page_host)
        return cls(
            auth.WEBAUTHN_RP_ID or pages.hostname or "",
            core.PROJECT_NAME,
            # As browsers write it: no path, and no letter in upper case.
            [_as_written(each) for each in auth.WEBAUTHN_ORIGINS or [core.page_host]],
        )

    def faults(self) -> Iterator[str]:
        """Why browsers would refuse what we ask of them."""
        if _is_address(self.id):
            yield f"{self.id} is an address, and passkeys are for a domain"
            return
        for origin in self.origins:
            parts = urlsplit(origin)
            host = parts.hostname or ""
            if host != self.id and not host.endswith(f".{self.id}"):
                yield f"a page of {origin} may not use passkeys for {self.id}"
            elif parts.scheme == "http" and not f".{host}".endswith(".localhost"):
                yield f"browsers know no passkeys on {origin}, which is not HTTPS"

    def check_creation(self, given: Creation, challenge: bytes) -> VerifiedCreation:
        from webauthn import verify_registration_response
        from webauthn.helpers import encode_cbor
        from webauthn.helpers.cose import COSEAlgorithmIdentifier
        from webauthn.helpers.structs import (
            AuthenticatorAttestationResponse,
            RegistrationCredential,
        )

        authenticator_data = _authenticator_data(given.attestation)
        # Of what kind an authenticator is was not asked, and who says so all the same proves it to
        # nobody: as browsers do, the statement is left out.
        bare = {"fmt": "none", "attStmt": {}, "authData": authenticator_data}
        response = AuthenticatorAttestationResponse(given.client_data, encode_cbor(bare))
        found = _checked(
            lambda: verify_registration_response(
                credential=RegistrationCredential(_base64url(given.id), given.id, response),
                expected_challenge=challenge,
                expected_rp_id=self.id,
                expected_origin=list(self.origins),
                require_user_verification=True,
                supported_pub_key_algs=[COSEAlgorithmIdentifier(each) for each in ALGORITHMS],
            )
        )
        if found.credential_id != given.id:
            raise PasskeyRefused("another_credential")
        _checked(lambda: _public_key(found.credential_public_key))
        return VerifiedCreation(
            found.credential_public_key,
            found.sign_count,
            found.aaguid,
            found.credential_backed_up,
        )

    def check_assertion(
        self, given: Assertion, challenge: bytes, public_key: bytes
    ) -> VerifiedAssertion:
        """The count of signatures is the caller's to compare: of what is not signed rightly it
        tells nothing."""
        from webauthn import verify_authentication_response
        from webauthn.helpers.structs import (
            AuthenticationCredential,
            AuthenticatorAssertionResponse,
        )

        _look_through(given.authenticator_data)
        response = AuthenticatorAssertionResponse(
            given.client_data, given.authenticator_data, given.signature, given.user_handle
        )
        found = _checked(
            lambda: verify_authentication_response(
                credential=AuthenticationCredential(_base64url(given.id), given.id, response),
                expected_challenge=challenge,
                expected_rp_id=self.id,
                expected_origin=list(self.origins),
                credential_public_key=public_key,
                credential_current_sign_count=0,
                require_user_verification=True,
            )
        )
        return VerifiedAssertion(found.new_sign_count, found.credential_backed_up)


def challenge_in(client_data: bytes, kind: str) -> bytes:
    """Return the signed challenge; the page must be same-origin and not in a frame."""
    from webauthn.helpers import base64url_to_bytes

    try:
        said = orjson.loads(client_data)
        told, challenge = said.get("type"), base64url_to_bytes(said.get("challenge"))
    except (ValueError, AttributeError):
        raise PasskeyRefused("client_data_malformed") from None
    if told != kind:
        raise PasskeyRefused("another_ceremony")
    if said.get("crossOrigin") not in (None, False) or said.get("topOrigin") is not None:
        raise PasskeyRefused("in_a_frame")
    return challenge


def _checked(check: Callable[[], Checked]) -> Checked:
    """The library raises some twenty kinds of errors for what is hostile, Python's own among them.
    Of its texts, what stands before a quotation is its own and not the client's."""
    try:
        return check()
    except Exception as error:
        text = str(error).partition('"')[0].strip() or type(error).__name__
        raise PasskeyRefused("not_verified", error=text[:100]) from None


def _public_key(key: bytes) -> Any:
    """A key that no signature could ever be compared with is found out when it is brought."""
    from webauthn.helpers import decode_credential_public_key, decoded_public_key_to_cryptography

    return decoded_public_key_to_cryptography(decode_credential_public_key(key))


def _authenticator_data(attestation: bytes) -> bytes:
    try:
        told, end = read(attestation)
    except UnsupportedCbor:
        raise PasskeyRefused("attestation_malformed") from None
    found = told.get("authData") if isinstance(told, dict) and end == len(attestation) else None
    if not isinstance(found, bytes):
        raise PasskeyRefused("attestation_malformed")
    _look_through(found)
    return found


def _look_through(authenticator_data: bytes) -> None:
    """Check that the CBOR parts are plain."""
    if len(authenticator_data) < 37:
        raise PasskeyRefused("authenticator_data_malformed")
    flags, at = authenticator_data[32], 37
    try:
        if flags & _HAS_CREDENTIAL:
            length = int.from_bytes(authenticator_data[53:55], "big")
            _, at = read(authenticator_data, 55 + length)
        if flags & _HAS_EXTENSIONS:
            _, at = read(authenticator_data, at)
    except UnsupportedCbor:
        raise PasskeyRefused("authenticator_data_malformed") from None


def _as_written(origin: str) -> str:
    parts = urlsplit(origin)
    return f"{parts.scheme}://{parts.netloc.lower()}"


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _base64url(data: bytes) -> str:
    from webauthn.helpers import bytes_to_base64url

    return bytes_to_base64url(data)
