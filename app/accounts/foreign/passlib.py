"""`$scheme$…`, as passlib, pwdlib, PHP and the makers of Argon2 write it."""

from __future__ import annotations

import hashlib
import hmac
import re
from base64 import b64encode
from collections.abc import Callable

from .recipes import Argon2, Bcrypt, Pbkdf2, Recipe, Scrypt
from .text import adapted_base64, base64, number

PREFIXES = ("$pbkdf2", "$scrypt$", "$argon2", "$2", "$bcrypt-sha256$")

_BCRYPT = re.compile(r"\$2[aby]\$([0-9]{2})\$[./A-Za-z0-9]{53}", re.ASCII)
_ARGON2 = re.compile(
    r"\$argon2(id|i|d)\$v=(?:16|19)\$m=([0-9]{1,9}),t=([0-9]{1,9}),p=([0-9]{1,9})"
    r"\$[A-Za-z0-9+/]{11,86}\$[A-Za-z0-9+/]{22,171}",
    re.ASCII,
)
_BCRYPT_SHA256 = re.compile(
    r"\$bcrypt-sha256\$(?:v=(?P<version>2),t=2b,r=|2[aby],)(?P<cost>[0-9]{1,2})"
    r"\$(?P<salt>[./A-Za-z0-9]{22})\$(?P<made>[./A-Za-z0-9]{31})",
    re.ASCII,
)
_DIGESTS = {"pbkdf2": "sha1", "pbkdf2-sha256": "sha256", "pbkdf2-sha512": "sha512"}


def read(text: str) -> Recipe:
    scheme = text.split("$", 2)[1]
    if scheme in _DIGESTS:
        rounds, salt, expected = text.split("$")[2:]
        return Pbkdf2(
            _DIGESTS[scheme], number(rounds), adapted_base64(salt), adapted_base64(expected)
        )
    if scheme == "scrypt":
        return _read_scrypt(text)
    if scheme == "bcrypt-sha256":
        return _read_bcrypt_sha256(text)
    return read_argon2(text) if scheme.startswith("argon2") else read_bcrypt(text)


def read_argon2(text: str) -> Recipe:
    found = _match(_ARGON2, text)
    return Argon2(text, found[1], int(found[2]), int(found[3]), int(found[4]))


def read_bcrypt(text: str, prepare: Callable[[bytes], bytes] = bytes) -> Recipe:
    return Bcrypt(text, int(_match(_BCRYPT, text)[1]), prepare)


def _read_scrypt(text: str) -> Recipe:
    options, salt, expected = text.split("$")[2:]
    said = dict(option.split("=") for option in options.split(","))
    if not 1 <= number(said["ln"]) <= 32:
        raise ValueError("no such cost")
    n, r, p = 2 ** number(said["ln"]), number(said["r"]), number(said["p"])
    return Scrypt(n, r, p, base64(salt), base64(expected))


def _read_bcrypt_sha256(text: str) -> Recipe:
    """The older version hashes the password alone, the newer one with the salt as a key."""
    found = _match(_BCRYPT_SHA256, text)
    salt, cost = found["salt"], int(found["cost"])

    def plain(password: bytes) -> bytes:
        return b64encode(hashlib.sha256(password).digest())

    def keyed(password: bytes) -> bytes:
        return b64encode(hmac.digest(salt.encode(), password, "sha256"))

    made = f"$2b${cost:02d}${salt}{found['made']}"
    return Bcrypt(made, cost, keyed if found["version"] else plain)


def _match(form: re.Pattern[str], text: str) -> re.Match[str]:
    found = form.fullmatch(text)
    if found is None:
        raise ValueError("another form")
    return found
