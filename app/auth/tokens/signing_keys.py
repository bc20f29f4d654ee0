"""The keys of `AUTH.SIGNING_KEYS`, a JWK set (RFC 7517): with the published part, other services
verify access tokens without a secret.

The first key signs, all keys verify. A key is named by its thumbprint (RFC 7638), so no two keys
have one name, and no name is ever reused. PyJWT is imported with the first key, because it imports
cryptography.
"""

from __future__ import annotations

import hashlib
import json
import logging
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ...core.config.environment import SettingsError
from ...core.process.servers import after_fork
from ...core.types import JsonObject

log = logging.getLogger(__name__)

# The algorithm of each key type and curve.
_ALGORITHMS = {("EC", "P-256"): "ES256", ("OKP", "Ed25519"): "EdDSA"}
ALGORITHMS = tuple(_ALGORITHMS.values())
# How keys begin: the error about a missing file must not show them.
_TEXTS = ("{", "[", "-----")
# The members of a thumbprint (RFC 7638, section 3.2, and RFC 8037).
_THUMBPRINT = ("crv", "kty", "x", "y")


class SigningKey(NamedTuple):
    kid: str
    algorithm: str
    # A key of the library cryptography, as is the private key; None for a key that only verifies.
    public: Any
    private: Any
    # The JWK that other services read.
    published: JsonObject


def read_keys(text: str) -> tuple[SigningKey, ...]:
    """Return the keys in their order; raise SettingsError, with no part of a private key."""
    try:
        found = json.loads(text)["keys"]
    except (KeyError, TypeError, ValueError, RecursionError):
        raise _invalid('is not a JWK set, {"keys": […]}') from None
    if not isinstance(found, list) or not found:
        raise _invalid("has no keys")
    keys = tuple(_read_key(jwk, number) for number, jwk in enumerate(found, 1))
    if keys[0].private is None:
        raise _invalid("has a first key without its private part `d`, so it cannot sign")
    kids = [key.kid for key in keys]
    if repeated := [kid for kid in kids if kids.count(kid) > 1]:
        raise _invalid(f"has the key {repeated[0]} twice")
    return keys


def _read_key(jwk: Any, number: int) -> SigningKey:
    import jwt

    try:
        algorithm = _ALGORITHMS[jwk["kty"], jwk["crv"]]
        is_allowed = jwk.get("alg", algorithm) == algorithm
    except (KeyError, TypeError, AttributeError):
        is_allowed = False
    if not is_allowed:
        raise _invalid(f"has a key {number} that is neither for ES256 nor for EdDSA (Ed25519)")
    try:
        key: Any = jwt.PyJWK(jwk, algorithm).key
        public = key.public_key() if "d" in jwk else key
        published = _to_jwk(public, algorithm)
    except (jwt.PyJWTError, AttributeError, TypeError, ValueError):
        raise _invalid(f"has a key {number} that is not a valid JWK") from None
    kid = published["kid"]
    if jwk.get("kid", kid) != kid:
        raise _invalid(f"has a key {number} whose `kid` is not its RFC 7638 thumbprint, {kid}")
    return SigningKey(kid, algorithm, public, key if "d" in jwk else None, published)


def _invalid(reason: str) -> SettingsError:
    return SettingsError(f"AUTH.SIGNING_KEYS {reason}.")


def generate_key(algorithm: str) -> JsonObject:
    """Return the JWK of a new private key."""
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519

    while True:
        if algorithm == "ES256":
            jwk = _to_jwk(ec.generate_private_key(ec.SECP256R1()), algorithm)
        else:
            jwk = _to_jwk(ed25519.Ed25519PrivateKey.generate(), algorithm)
        # A command would take such a name for an option.
        if not jwk["kid"].startswith("-"):
            return jwk


def _to_jwk(key: object, algorithm: str) -> JsonObject:
    import jwt

    jwk: JsonObject = jwt.get_algorithm_by_name(algorithm).to_jwk(key, as_dict=True)
    members = {name: jwk[name] for name in _THUMBPRINT if name in jwk}
    digest = hashlib.sha256(json.dumps(members, separators=(",", ":")).encode()).digest()
    kid = urlsafe_b64encode(digest).rstrip(b"=").decode()
    return {**jwk, "kid": kid, "alg": algorithm, "use": "sig"}


class SigningKeys:
    """The keys of one application. Each process reads the file once, so that a worker that starts
    after a change uses the new keys, also if it is forked from a process with the old ones."""

    def __init__(self, source: str, folder: Path) -> None:
        """`source` is a JWK set, or the path of a file with one, relative to the folder."""
        is_text = source.lstrip().startswith(_TEXTS)
        self.path = None if is_text else folder / source
        self._text = source
        self._keys: Mapping[str, SigningKey] = {}
        self._stamp: object = None
        self._is_read = False
        after_fork(self._forget)

    def all(self) -> Mapping[str, SigningKey]:
        """Return the keys by their names, the signing key first."""
        if not self._is_read:
            self._load()
        return self._keys

    def first(self) -> SigningKey:
        return next(iter(self.all().values()))

    def find(self, kid: object) -> SigningKey | None:
        """Return the key that a token names.

        During a reload, a new worker may sign with a key that this worker has not read yet.
        """
        key = self.all().get(str(kid))
        if key is None and self._stamp != self._current_stamp():
            self._load()
            key = self._keys.get(str(kid))
        return key

    def read(self) -> tuple[SigningKey, ...]:
        """Return the keys as they are set now; raise SettingsError."""
        if self.path is None:
            return read_keys(self._text)
        try:
            text = self.path.read_text("utf-8")
        except OSError as error:
            reason = f"names {self.path}, which cannot be read: {error.strerror}"
            raise _invalid(f"{reason}. `flask auth keys new` creates the file") from None
        except ValueError:
            raise _invalid(f"names {self.path}, which is not a text file") from None
        return read_keys(text)

    def _load(self) -> None:
        """Read the keys. If that fails, a process with older keys keeps them and serves on."""
        self._stamp = self._current_stamp()
        try:
            self._keys = {key.kid: key for key in self.read()}
        except SettingsError as error:
            if not self._keys:
                raise
            log.error("%s The keys from before the last change stay in use.", error)
        self._is_read = True

    def _forget(self) -> None:
        self._is_read = False

    def _current_stamp(self) -> object:
        """Return what changes with the file."""
        try:
            found = self.path.stat() if self.path is not None else None
        except OSError:
            return None
        return found and (found.st_ino, found.st_mtime_ns, found.st_size)
