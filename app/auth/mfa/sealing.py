"""Secrets at rest: encrypted with keys that are not in the database, and bound to their row.

A sealed text names its key, so that keys can be rotated: the first of them encrypts, all decrypt.
"""

from __future__ import annotations

import binascii
import hashlib
import hmac
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

# What the bytes begin with: a later form would have another number.
_FORM = b"\x01"
_KEY_ID = 4
_NONCE = 12


class Unopenable(Exception):
    """None of the keys opens it, or it was moved here from another row. The text says which."""


class Sealing:
    def __init__(self, keys: Sequence[str]) -> None:
        """Texts with enough randomness in them; there is one at least."""
        made = [derived(key, b"frontdesk.sealing") for key in keys]
        self._keys = {id_of(key): key for key in made}
        self._first = id_of(made[0])

    def seal(self, secret: bytes, row: str) -> str:
        """Encrypt a secret for its `row`: a copy in another row cannot be decrypted."""
        nonce = secrets.token_bytes(_NONCE)
        box = _cipher(self._keys[self._first]).encrypt(nonce, secret, row.encode())
        return urlsafe_b64encode(_FORM + self._first + nonce + box).decode()

    def open(self, sealed: str, row: str) -> bytes:
        parts = _parts(sealed)
        key = self._keys.get(parts[0])
        if key is None:
            raise Unopenable(f"its key {parts[0].hex()} is none of those that are set")
        _, nonce, box = parts
        from cryptography.exceptions import InvalidTag

        try:
            return _cipher(key).decrypt(nonce, box, row.encode())
        except (InvalidTag, ValueError):
            raise Unopenable("it was damaged, or belongs to another row") from None

    def is_current(self, sealed: str) -> bool:
        """Whether the key that encrypts now has encrypted it."""
        try:
            return _parts(sealed)[0] == self._first
        except Unopenable:
            return False


def derived(key: str, purpose: bytes) -> bytes:
    """HKDF (RFC 5869) with SHA-256 and one block: a key for each purpose from one that is set."""
    root = hmac.new(bytes(hashlib.sha256().digest_size), key.encode(), hashlib.sha256).digest()
    return hmac.new(root, purpose + b"\x01", hashlib.sha256).digest()


def id_of(key: bytes) -> bytes:
    """Return the id of a key, which reveals nothing about the key."""
    return hashlib.sha256(b"frontdesk.key-id" + key).digest()[:_KEY_ID]


def _parts(sealed: str) -> tuple[bytes, bytes, bytes]:
    """Split into the id of the key, the nonce and the ciphertext."""
    try:
        whole = urlsafe_b64decode(sealed)
    except (binascii.Error, ValueError):
        whole = b""
    if whole[:1] != _FORM:
        raise Unopenable("it is not of a form that is known here")
    key_end = len(_FORM) + _KEY_ID
    return (
        whole[len(_FORM) : key_end],
        whole[key_end : key_end + _NONCE],
        whole[key_end + _NONCE :],
    )


def _cipher(key: bytes) -> AESGCM:
    # Imported here: only second factors need the library.
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return AESGCM(key)
