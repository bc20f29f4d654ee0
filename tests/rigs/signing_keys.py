"""Signing keys, and tokens that tests sign with them or forge."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from typing import Any

import jwt

from app.auth.tokens.signing_keys import generate_key

Jwk = dict[str, Any]

ES256 = generate_key("ES256")
EDDSA = generate_key("EdDSA")
# A key that no set has.
STRANGE = generate_key("ES256")


def key_set(*keys: Any) -> str:
    return json.dumps({"keys": keys})


def public(key: Jwk) -> Jwk:
    return {name: value for name, value in key.items() if name != "d"}


def claims(**more: Any) -> Jwk:
    return {"sub": "ada@example.com", "exp": int(time.time()) + 60, **more}


def signed(key: Jwk, **header: Any) -> str:
    """Sign with the key, and name it unless the header names another."""
    header = {name: value for name, value in ({"kid": key["kid"]} | header).items() if value != ""}
    return jwt.encode(claims(), jwt.PyJWK(key).key, header.pop("alg", key["alg"]), header)


def signed_with_secret(secret: bytes, **header: Any) -> str:
    """Sign with HMAC and any secret: PyJWT rejects public keys."""
    parts = [{"alg": "HS256", "typ": "JWT", **header}, claims()]
    text = b".".join(_encoded(json.dumps(part).encode()) for part in parts)
    return b".".join([text, _encoded(hmac.digest(secret, text, hashlib.sha256))]).decode()


def forged_header(token: str, **header: Any) -> str:
    """Return the token with other values in its header, and its old signature."""
    _, *rest = token.split(".")
    merged = jwt.get_unverified_header(token) | header
    return ".".join([_encoded(json.dumps(merged).encode()).decode(), *rest])


def _encoded(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")
