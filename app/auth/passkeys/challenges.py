"""The challenges that authenticators sign: each for one purpose, for five minutes, and once.

A challenge tells by itself what it was made for, since part of it is a keyed digest of that. So
nothing is stored for those that anybody may ask for, and none has to be named beside the credential
that answers it. What is kept, until it runs out, is that it has been answered.
"""

from __future__ import annotations

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
from .relying_party import ALGORITHMS, RelyingParty
from .schemas import as_base64url

LIFE_SECONDS = 300
_SALT = "frontdesk.passkey"
_EXPIRY, _NONCE, _DIGEST = 8, 16, 32
_HEAD = _EXPIRY + _NONCE


@dataclass(eq=False)
class Challenges:
    # The first makes them; what was made by the others is still known again.
    keys: Sequence[str]
    keystore: Keystore
    clock: Clock

    def make(self, *bound: str) -> bytes:
        """`bound` is the purpose, and whom it is for."""
        until = int(self.clock.now().timestamp()) + LIFE_SECONDS
        head = until.to_bytes(_EXPIRY, "big") + secrets.token_bytes(_NONCE)
        return head + _digest(self.keys[0], head, bound)

    def check(self, challenge: bytes, *bound: str) -> None:
        """Ours, for this, and not too old. Whether it has been answered, `spend` tells."""
        head, digest = challenge[:_HEAD], challenge[_HEAD:]
        if not any(hmac.compare_digest(digest, _digest(key, head, bound)) for key in self.keys):
            raise PasskeyRefused("challenge_unknown")
        if self._seconds_left(challenge) <= 0:
            raise PasskeyRefused("challenge_expired")

    def spend(self, challenge: bytes) -> None:
        """After all else is found right: of many who answer one challenge, one passes here."""
        name = f"passkey-challenge:{challenge[:_HEAD].hex()}"
        if not self.keystore.add(name, "1", int(self._seconds_left(challenge)) + 2):
            raise PasskeyRefused("challenge_used")

    def _seconds_left(self, challenge: bytes) -> float:
        return int.from_bytes(challenge[:_EXPIRY], "big") - self.clock.now().timestamp()


def handle_from(challenge: bytes) -> bytes:
    """The 64 bytes by which authenticators know an account, for one that has none yet: as random as
    the challenge, and found again when that comes back."""
    return hashlib.sha512(_SALT.encode() + challenge).digest()


def _digest(key: str, head: bytes, bound: Sequence[str]) -> bytes:
    text = json.dumps([_SALT, head.hex(), *bound]).encode()
    return hmac.new(key.encode(), text, hashlib.sha256).digest()


_TIMEOUT = LIFE_SECONDS * 1000


def creation_options(
    party: RelyingParty,
    email: str,
    handle: bytes,
    challenge: bytes,
    present: Iterable[Authenticator],
) -> JsonObject:
    """A passkey that is found without a name, and that asks its holder for a finger or a PIN."""
    return {
        "rp": {"id": party.id, "name": party.name},
        "user": {"id": as_base64url(handle), "name": email, "displayName": email},
        "challenge": as_base64url(challenge),
        "pubKeyCredParams": [{"type": "public-key", "alg": each} for each in ALGORITHMS],
        "timeout": _TIMEOUT,
        "excludeCredentials": [_described(each) for each in present],
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
        "allowCredentials": [_described(each) for each in allowed],
        "userVerification": "required",
    }


def _described(passkey: Authenticator) -> JsonObject:
    described: JsonObject = {
        "type": "public-key",
        "id": as_base64url(passkey.credential_id or b""),
    }
    if passkey.transports:
        described["transports"] = passkey.transports
    return described
