"""What a browser is asked for, in the words of WebAuthn."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..mfa.models import Authenticator
from .challenges import LIFE_SECONDS
from .relying_party import ALGORITHMS, RelyingParty
from .schemas import as_base64url

_TIMEOUT = LIFE_SECONDS * 1000


def creation_options(
    party: RelyingParty,
    email: str,
    handle: bytes,
    challenge: bytes,
    present: Iterable[Authenticator],
) -> dict[str, Any]:
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
) -> dict[str, Any]:
    return {
        "rpId": party.id,
        "challenge": as_base64url(challenge),
        "timeout": _TIMEOUT,
        "allowCredentials": [_described(each) for each in allowed],
        "userVerification": "required",
    }


def _described(passkey: Authenticator) -> dict[str, Any]:
    described: dict[str, Any] = {
        "type": "public-key",
        "id": as_base64url(passkey.credential_id or b""),
    }
    if passkey.transports:
        described["transports"] = passkey.transports
    return described
