"""WebAuthn challenges: each for one purpose, valid for five minutes, and single-use.

A challenge contains a keyed digest of its purpose and account. So nothing is stored for a challenge
that an anonymous client requests, and clients do not name the challenge that a credential signs.
Only used challenges are stored, until they expire.
"""

import hashlib
import hmac
import json
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...core.clock import Clock
from ...core.keystore import Keystore
from ...core.types import JsonObject
from ..errors import PasskeyRefused
from ..mfa.models import Authenticator
from ..webauthn.relying_party import ALGORITHMS, RelyingParty
from ..webauthn.schemas import as_base64url

LIFE_SECONDS = 300
_SALT = "frontdesk.passkey"
_EXPIRY, _NONCE, _DIGEST = 8, 16, 32
_HEAD = _EXPIRY + _NONCE


@dataclass(eq=False)
class Challenges:
    # The first key creates challenges; challenges of the others are still accepted.
    keys: Sequence[str]
    keystore: Keystore
    clock: Clock

    def create(self, *context: str) -> bytes:
        """Return a challenge for the purpose and account in `context`."""
        expiry = int(self.clock.now().timestamp()) + LIFE_SECONDS
        head = expiry.to_bytes(_EXPIRY, "big") + secrets.token_bytes(_NONCE)
        return head + _digest(self.keys[0], head, context)

    def check(self, challenge: bytes, *context: str) -> None:
        """Raise PasskeyRefused for an unknown or expired challenge. `use_up` rejects used ones."""
        head, digest = challenge[:_HEAD], challenge[_HEAD:]
        if not any(hmac.compare_digest(digest, _digest(key, head, context)) for key in self.keys):
            raise PasskeyRefused("challenge_unknown")
        if self._seconds_left(challenge) <= 0:
            raise PasskeyRefused("challenge_expired")

    def use_up(self, challenge: bytes) -> None:
        """Use a challenge up after all other checks; raise PasskeyRefused if it was used before."""
        name = f"passkey-challenge:{challenge[:_HEAD].hex()}"
        if not self.keystore.add(name, "1", int(self._seconds_left(challenge)) + 2):
            raise PasskeyRefused("challenge_used")

    def _seconds_left(self, challenge: bytes) -> float:
        return int.from_bytes(challenge[:_EXPIRY], "big") - self.clock.now().timestamp()


def handle_from(challenge: bytes) -> bytes:
    """Return the user handle of an account without passkeys: 64 bytes by which authenticators will
    know the account, derived from the challenge so that nothing is stored."""
    return hashlib.sha512(_SALT.encode() + challenge).digest()


def _digest(key: str, head: bytes, context: Sequence[str]) -> bytes:
    text = json.dumps([_SALT, head.hex(), *context]).encode()
    return hmac.new(key.encode(), text, hashlib.sha256).digest()


_TIMEOUT = LIFE_SECONDS * 1000


def creation_options(
    party: RelyingParty,
    email: str,
    handle: bytes,
    challenge: bytes,
    existing: Iterable[Authenticator],
) -> JsonObject:
    """Return options for a discoverable passkey with user verification (biometrics or a PIN)."""
    return {
        "rp": {"id": party.id, "name": party.name},
        "user": {"id": as_base64url(handle), "name": email, "displayName": email},
        "challenge": as_base64url(challenge),
        "pubKeyCredParams": [{"type": "public-key", "alg": algorithm} for algorithm in ALGORITHMS],
        "timeout": _TIMEOUT,
        "excludeCredentials": [_descriptor(passkey) for passkey in existing],
        "authenticatorSelection": {
            "residentKey": "required",
            "requireResidentKey": True,
            "userVerification": "required",
        },
        "attestation": "none",
    }


def request_options(
    party: RelyingParty, challenge: bytes, allowed: Iterable[Authenticator] = ()
) -> JsonObject:
    return {
        "rpId": party.id,
        "challenge": as_base64url(challenge),
        "timeout": _TIMEOUT,
        "allowCredentials": [_descriptor(passkey) for passkey in allowed],
        "userVerification": "required",
    }


def _descriptor(passkey: Authenticator) -> JsonObject:
    credential_id = as_base64url(passkey.credential_id or b"")
    descriptor: JsonObject = {"type": "public-key", "id": credential_id}
    if passkey.transports:
        descriptor["transports"] = passkey.transports
    return descriptor
