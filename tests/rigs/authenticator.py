"""A WebAuthn level 2 authenticator in software, together with a browser. Tests can forge each value
that a malicious authenticator or browser might send."""

from __future__ import annotations

import hashlib
import json
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

ORIGIN = "http://localhost:3000"
PRESENT, VERIFIED, CAN_BE_BACKED_UP, BACKED_UP = 0x01, 0x04, 0x08, 0x10
HAS_CREDENTIAL, HAS_EXTENSIONS = 0x40, 0x80


class Credential(NamedTuple):
    key: ec.EllipticCurvePrivateKey
    rp_id: str
    handle: bytes


@dataclass
class SoftAuthenticator:
    """`forged` replaces values: `flags`, `rp_id`, `origin`, `type`, `count`, `client_data`, …"""

    origin: str = ORIGIN
    # The signature counter; None: an authenticator without a counter, which always sends 0.
    count: int | None = None
    flags: int = PRESENT | VERIFIED
    credentials: dict[bytes, Credential] = field(default_factory=dict)

    def create(self, options: dict[str, Any], **forged: Any) -> dict[str, Any]:
        excluded = {from_base64url(each["id"]) for each in options["excludeCredentials"]}
        if excluded & self.credentials.keys() and "id" not in forged:
            raise LookupError("InvalidStateError: the account already has a credential here")
        key = ec.generate_private_key(ec.SECP256R1())
        credential_id = forged.get("id") or secrets.token_bytes(32)
        rp_id = options["rp"]["id"]
        self.credentials[credential_id] = Credential(
            key, rp_id, from_base64url(options["user"]["id"])
        )
        cose = forged.get("cose") or cose_key(key)
        credential = (
            bytes(16) + len(credential_id).to_bytes(2, "big") + credential_id + cose
            if "data" not in forged
            else forged["data"]
        )
        forged.setdefault("flags", self.flags | HAS_CREDENTIAL)
        data = self._data(rp_id, forged) + credential
        statement = {"fmt": "none", "attStmt": {}, "authData": data}
        attestation = forged.get("attestation") or cbor2.dumps(
            statement | forged.get("statement", {})
        )
        return {
            "id": base64url(credential_id),
            "rawId": base64url(credential_id),
            "type": "public-key",
            "authenticatorAttachment": "platform",
            "clientExtensionResults": {},
            "response": {
                "clientDataJSON": base64url(self._client_data("webauthn.create", options, forged)),
                "attestationObject": base64url(attestation),
                "transports": forged.get("transports", ["internal", "hybrid"]),
            },
        }

    def get(self, options: dict[str, Any], **forged: Any) -> dict[str, Any]:
        credential_id = forged.get("id") or self._choose(options)
        credential = self.credentials[credential_id]
        client_data = self._client_data("webauthn.get", options, forged)
        data = self._data(options["rpId"], forged) + forged.get("data", b"")
        signed = data + hashlib.sha256(client_data).digest()
        signature = credential.key.sign(signed, ec.ECDSA(hashes.SHA256()))
        return {
            "id": base64url(credential_id),
            "rawId": base64url(credential_id),
            "type": "public-key",
            "authenticatorAttachment": "platform",
            "clientExtensionResults": {},
            "response": {
                "clientDataJSON": base64url(client_data),
                "authenticatorData": base64url(data),
                "signature": base64url(signature),
                "userHandle": base64url(forged.get("handle", credential.handle)),
            },
        }

    def _choose(self, options: dict[str, Any]) -> bytes:
        allowed = [from_base64url(each["id"]) for each in options["allowCredentials"]]
        for credential_id, credential in reversed(self.credentials.items()):
            if credential.rp_id == options["rpId"] and (not allowed or credential_id in allowed):
                return credential_id
        raise LookupError("NotAllowedError: no credential for this relying party")

    def _data(self, rp_id: str, forged: dict[str, Any]) -> bytes:
        if self.count is not None:
            self.count += 1
        count: int = forged.get("count", self.count or 0)
        return (
            hashlib.sha256(forged.get("rp_id", rp_id).encode()).digest()
            + bytes([forged.get("flags", self.flags)])
            + count.to_bytes(4, "big")
        )

    def _client_data(self, kind: str, options: dict[str, Any], forged: dict[str, Any]) -> bytes:
        if "client_data" in forged:
            client_data: bytes = forged["client_data"]
            return client_data
        return json.dumps(
            {
                "type": forged.get("type", kind),
                "challenge": forged.get("challenge", options["challenge"]),
                "origin": forged.get("origin", self.origin),
                "crossOrigin": False,
            }
            | forged.get("more", {})
        ).encode()


def cose_key(key: ec.EllipticCurvePrivateKey) -> bytes:
    numbers = key.public_key().public_numbers()
    x, y = (each.to_bytes(32, "big") for each in (numbers.x, numbers.y))
    return cbor2.dumps({1: 2, 3: -7, -1: 1, -2: x, -3: y}, canonical=True)


def base64url(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def from_base64url(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
