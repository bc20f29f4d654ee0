"""The WebAuthn relying party: this service. Verifies the credentials that browsers send."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import NamedTuple, TypeVar
from urllib.parse import urlsplit

import orjson

from ...core.config.settings import CoreSettings
from ..errors import PasskeyRefused
from ..settings import AuthSettings
from .plain_cbor import UnsupportedCbor, read_cbor

CREATION, ASSERTION = "webauthn.create", "webauthn.get"
# EdDSA, ES256, RS256: the requested and accepted algorithms.
ALGORITHMS = (-8, -7, -257)
# Transports of authenticators; unknown ones are ignored.
TRANSPORTS = frozenset(("ble", "cable", "hybrid", "internal", "nfc", "smart-card", "usb"))
_HAS_CREDENTIAL, _HAS_EXTENSIONS = 0x40, 0x80

Verified = TypeVar("Verified")


class Creation(NamedTuple):
    """The result of `navigator.credentials.create`."""

    id: bytes
    client_data: bytes
    attestation: bytes
    transports: Sequence[str]


class Assertion(NamedTuple):
    """The result of `navigator.credentials.get`."""

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
    def of(cls, name: str, core: CoreSettings, auth: AuthSettings) -> RelyingParty:
        pages = urlsplit(core.page_host)
        return cls(
            auth.WEBAUTHN_RP_ID or pages.hostname or "",
            name,
            [_origin(url) for url in auth.WEBAUTHN_ORIGINS or [core.page_host]],
        )

    def misconfigurations(self) -> Iterator[str]:
        """Yield why browsers would refuse passkeys."""
        if _is_ip_address(self.id):
            yield f"{self.id} is an IP address, and passkeys need a domain"
            return
        for origin in self.origins:
            parts = urlsplit(origin)
            host = parts.hostname or ""
            if host != self.id and not host.endswith(f".{self.id}"):
                yield f"pages of {origin} cannot use passkeys of {self.id}"
            elif parts.scheme == "http" and not f".{host}".endswith(".localhost"):
                yield f"browsers have no passkeys on {origin}, which is not HTTPS"

    def check_creation(self, given: Creation, challenge: bytes) -> VerifiedCreation:
        from webauthn import verify_registration_response
        from webauthn.helpers import encode_cbor
        from webauthn.helpers.cose import COSEAlgorithmIdentifier
        from webauthn.helpers.structs import (
            AuthenticatorAttestationResponse,
            RegistrationCredential,
        )

        authenticator_data = _authenticator_data(given.attestation)
        # The attestation statement is removed, as browsers do if none was requested: the kind of
        # authenticator is not verified.
        bare = {"fmt": "none", "attStmt": {}, "authData": authenticator_data}
        response = AuthenticatorAttestationResponse(given.client_data, encode_cbor(bare))
        found = _verify(
            lambda: verify_registration_response(
                credential=RegistrationCredential(_base64url(given.id), given.id, response),
                expected_challenge=challenge,
                expected_rp_id=self.id,
                expected_origin=list(self.origins),
                require_user_verification=True,
                supported_pub_key_algs=[COSEAlgorithmIdentifier(number) for number in ALGORITHMS],
            )
        )
        if found.credential_id != given.id:
            raise PasskeyRefused("another_credential")
        _verify(lambda: _public_key(found.credential_public_key))
        return VerifiedCreation(
            found.credential_public_key, found.sign_count, found.aaguid, found.credential_backed_up
        )

    def check_assertion(
        self, given: Assertion, challenge: bytes, public_key: bytes
    ) -> VerifiedAssertion:
        """Verify an assertion, except for the signature count, which the caller compares."""
        from webauthn import verify_authentication_response
        from webauthn.helpers.structs import (
            AuthenticationCredential,
            AuthenticatorAssertionResponse,
        )

        _check_cbor(given.authenticator_data)
        response = AuthenticatorAssertionResponse(
            given.client_data, given.authenticator_data, given.signature, given.user_handle
        )
        found = _verify(
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


def read_challenge(client_data: bytes, ceremony: str) -> bytes:
    """Return the signed challenge; raise PasskeyRefused if the page was in a frame."""
    from webauthn.helpers import base64url_to_bytes

    try:
        data = orjson.loads(client_data)
        kind, challenge = data.get("type"), base64url_to_bytes(data.get("challenge"))
    except (ValueError, AttributeError):
        raise PasskeyRefused("client_data_malformed") from None
    if kind != ceremony:
        raise PasskeyRefused("another_ceremony")
    if data.get("crossOrigin") not in (None, False) or data.get("topOrigin") is not None:
        raise PasskeyRefused("in_a_frame")
    return challenge


def _verify(check: Callable[[], Verified]) -> Verified:
    """Call the library; raise PasskeyRefused for any error.

    The library raises about twenty kinds of errors for hostile input, Python's own among them. The
    text of an error before a quotation is the library's, and not the client's.
    """
    try:
        return check()
    except Exception as error:
        text = str(error).partition('"')[0].strip() or type(error).__name__
        raise PasskeyRefused("not_verified", error=text[:100]) from None


def _public_key(key: bytes) -> object:
    """Return the decoded key; raise an error for a key that could never verify a signature."""
    from webauthn.helpers import decode_credential_public_key, decoded_public_key_to_cryptography

    return decoded_public_key_to_cryptography(decode_credential_public_key(key))


def _authenticator_data(attestation: bytes) -> bytes:
    try:
        document, end = read_cbor(attestation)
    except UnsupportedCbor:
        raise PasskeyRefused("attestation_malformed") from None
    is_complete = isinstance(document, dict) and end == len(attestation)
    data = document.get("authData") if is_complete else None
    if not isinstance(data, bytes):
        raise PasskeyRefused("attestation_malformed")
    _check_cbor(data)
    return data


def _check_cbor(authenticator_data: bytes) -> None:
    """Raise PasskeyRefused unless the CBOR parts are in canonical form, without tags."""
    if len(authenticator_data) < 37:
        raise PasskeyRefused("authenticator_data_malformed")
    flags, at = authenticator_data[32], 37
    try:
        if flags & _HAS_CREDENTIAL:
            length = int.from_bytes(authenticator_data[53:55], "big")
            _, at = read_cbor(authenticator_data, 55 + length)
        if flags & _HAS_EXTENSIONS:
            _, at = read_cbor(authenticator_data, at)
    except UnsupportedCbor:
        raise PasskeyRefused("authenticator_data_malformed") from None


def _origin(url: str) -> str:
    """Return an origin as browsers write it: without a path, in lower case."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.lower()}"


def _is_ip_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _base64url(data: bytes) -> str:
    from webauthn.helpers import bytes_to_base64url

    return bytes_to_base64url(data)
