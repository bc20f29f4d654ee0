"""Encryption of secrets at rest: the keys are not in the database, and each ciphertext is bound to
its row.

A ciphertext names its key, so that keys can be rotated: the first key encrypts, all keys decrypt.
"""

from __future__ import annotations

import binascii
import hashlib
import hmac
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..core.config.environment import SettingsError
from ..core.config.settings import LoadedSettings
from .settings import AuthSettings

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

# The first byte of a ciphertext: the version of its format.
_VERSION = b"\x01"
_KEY_ID = 4
_NONCE = 12
SHORTEST_KEY = 32


class DecryptionFailed(Exception):
    """No key decrypts the ciphertext, or it was copied from another row; the text says which."""


class Sealing:
    def __init__(self, keys: Sequence[str]) -> None:
        """`keys` are random texts, at least one."""
        derived = [derive_key(key, b"frontdesk.sealing") for key in keys]
        self._keys = {key_id(key): key for key in derived}
        self._current = key_id(derived[0])

    def seal(self, secret: bytes, row: str) -> str:
        """Encrypt a secret for its `row`: a copy in another row cannot be decrypted."""
        nonce = secrets.token_bytes(_NONCE)
        ciphertext = _cipher(self._keys[self._current]).encrypt(nonce, secret, row.encode())
        return urlsafe_b64encode(_VERSION + self._current + nonce + ciphertext).decode()

    def open(self, sealed: str, row: str) -> bytes:
        """Decrypt the secret of `row`; raise DecryptionFailed."""
        used_key, nonce, ciphertext = _parts(sealed)
        key = self._keys.get(used_key)
        if key is None:
            raise DecryptionFailed(f"its key {used_key.hex()} is not set")
        from cryptography.exceptions import InvalidTag

        try:
            return _cipher(key).decrypt(nonce, ciphertext, row.encode())
        except (InvalidTag, ValueError):
            raise DecryptionFailed("it was damaged, or belongs to another row") from None

    def is_current(self, sealed: str) -> bool:
        """Return whether the secret is encrypted with the first key."""
        try:
            return _parts(sealed)[0] == self._current
        except DecryptionFailed:
            return False


def encryption_keys(settings: LoadedSettings) -> Sequence[str]:
    """Return the keys of secrets; the first encrypts, all decrypt.

    The application's secret key and its fallbacks are always among them: secrets stay readable when
    an operator sets AUTH.ENCRYPTION_KEYS later.
    """
    keys = [key.get_secret_value() for key in settings.of(AuthSettings).ENCRYPTION_KEYS]
    if any(len(key) < SHORTEST_KEY for key in keys):
        raise SettingsError(
            f"AUTH.ENCRYPTION_KEYS has a key of less than {SHORTEST_KEY} characters: create a key"
            " with `flask frontdesk generate-key`."
        )
    return [*keys, settings.secret_key, *settings.former_secret_keys]


def derive_key(key: str, purpose: bytes) -> bytes:
    """Derive the key of one purpose: HKDF (RFC 5869) with SHA-256 and one block."""
    root = hmac.new(bytes(hashlib.sha256().digest_size), key.encode(), hashlib.sha256).digest()
    return hmac.new(root, purpose + b"\x01", hashlib.sha256).digest()


def key_id(key: bytes) -> bytes:
    """Return the id of a key, which reveals nothing about the key."""
    return hashlib.sha256(b"frontdesk.key-id" + key).digest()[:_KEY_ID]


def _parts(sealed: str) -> tuple[bytes, bytes, bytes]:
    """Split into the id of the key, the nonce and the ciphertext."""
    try:
        whole = urlsafe_b64decode(sealed)
    except (binascii.Error, ValueError):
        whole = b""
    if whole[:1] != _VERSION:
        raise DecryptionFailed("its format is unknown")
    key_end = len(_VERSION) + _KEY_ID
    nonce_end = key_end + _NONCE
    return whole[len(_VERSION) : key_end], whole[key_end:nonce_end], whole[nonce_end:]


def _cipher(key: bytes) -> AESGCM:
    # Imported here: few applications encrypt secrets.
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return AESGCM(key)
