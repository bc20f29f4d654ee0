"""An authenticator in software, as WebAuthn level 2 describes one, with a browser around it. It can
be made to lie about whatever a hostile one might."""

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


class Kept(NamedTuple):
    key: ec.EllipticCurvePrivateKey
    rp_id: str
    handle: bytes


@dataclass
class SoftAuthenticator:
    """Its lies are arguments: `flags`, `rp_id`, `origin`, `type`, `challenge`, `count`, `told`."""

    origin: str = ORIGIN
    # What it says of itself with each signature; zero for good in those that do not count.
    count: int | None = None
    flags: int = PRESENT | VERIFIED
    kept: dict[bytes, Kept] = field(default_factory=dict)

    def create(self, options: dict[str, Any], **lies: Any) -> dict[str, Any]:
        excluded = {from_base64url(each["id"]) for each in options["excludeCredentials"]}
        if excluded & self.kept.keys() and "id" not in lies:
            raise LookupError("InvalidStateError: it has one for this account already")
        key = ec.generate_private_key(ec.SECP256R1())
        credential_id = lies.get("id") or secrets.token_bytes(32)
        rp_id = options["rp"]["id"]
        self.kept[credential_id] = Kept(key, rp_id, from_base64url(options["user"]["id"]))
        cose = lies.get("cose") or cose_key(key)
        credential = (
            bytes(16) + len(credential_id).to_bytes(2, "big") + credential_id + cose
            if "data" not in lies
            else lies["data"]
        )
        lies.setdefault("flags", self.flags | HAS_CREDENTIAL)
        data = self._data(rp_id, lies) + credential
        statement = {"fmt": "none", "attStmt": {}, "authData": data}
        attestation = lies.get("attestation") or cbor2.dumps(statement | lies.get("statement", {}))
        return {
            "id": base64url(credential_id),
            "rawId": base64url(credential_id),
            "type": "public-key",
            "authenticatorAttachment": "platform",
            "clientExtensionResults": {},
            "response": {
                "clientDataJSON": base64url(self._told("webauthn.create", options, lies)),
                "attestationObject": base64url(attestation),
                "transports": lies.get("transports", ["internal", "hybrid"]),
            },
        }

    def get(self, options: dict[str, Any], **lies: Any) -> dict[str, Any]:
        credential_id = lies.get("id") or self._choose(options)
        kept = self.kept[credential_id]
        told = self._told("webauthn.get", options, lies)
        data = self._data(options["rpId"], lies) + lies.get("data", b"")
        signed = data + hashlib.sha256(told).digest()
        signature = kept.key.sign(signed, ec.ECDSA(hashes.SHA256()))
        return {
            "id": base64url(credential_id),
            "rawId": base64url(credential_id),
            "type": "public-key",
            "authenticatorAttachment": "platform",
            "clientExtensionResults": {},
            "response": {
                "clientDataJSON": base64url(told),
                "authenticatorData": base64url(data),
                "signature": base64url(signature),
                "userHandle": base64url(lies.get("handle", kept.handle)),
            },
        }

    def _choose(self, options: dict[str, Any]) -> bytes:
        allowed = [from_base64url(each["id"]) for each in options["allowCredentials"]]
        for credential_id, kept in reversed(self.kept.items()):
            if kept.rp_id == options["rpId"] and (not allowed or credential_id in allowed):
                return credential_id
        raise LookupError("NotAllowedError: it has none for this")

    def _data(self, rp_id: str, lies: dict[str, Any]) -> bytes:
        if self.count is not None:
            self.count += 1
        count: int = lies.get("count", self.count or 0)
        return (
            hashlib.sha256(lies.get("rp_id", rp_id).encode()).digest()
            + bytes([lies.get("flags", self.flags)])
            + count.to_bytes(4, "big")
        )

    def _told(self, kind: str, options: dict[str, Any], lies: dict[str, Any]) -> bytes:
        if "told" in lies:
            told: bytes = lies["told"]
            return told
        return json.dumps(
            {
                "type": lies.get("type", kind),
                "challenge": lies.get("challenge", options["challenge"]),
                "origin": lies.get("origin", self.origin),
                "crossOrigin": False,
            }
            | lies.get("more", {})
        ).encode()


def cose_key(key: ec.EllipticCurvePrivateKey) -> bytes:
    numbers = key.public_key().public_numbers()
    x, y = (each.to_bytes(32, "big") for each in (numbers.x, numbers.y))
    return cbor2.dumps({1: 2, 3: -7, -1: 1, -2: x, -3: y}, canonical=True)


def base64url(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def from_base64url(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
