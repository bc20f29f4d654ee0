"""Parses the password hashes of Werkzeug, Django, passlib and better-auth."""

from __future__ import annotations

import hashlib
import hmac
import re
import unicodedata
from base64 import b64decode, b64encode
from collections.abc import Callable
from typing import NamedTuple

from .algorithms import Argon2, Bcrypt, HashAlgorithm, Pbkdf2, Scrypt

_NUMBER = re.compile(r"[0-9]{1,10}", re.ASCII)


def number(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise ValueError("not a number")
    return int(text)


def base64(text: str) -> bytes:
    """Decode standard or URL-safe base64, with or without padding."""
    plain = text.rstrip("=").replace("-", "+").replace("_", "/")
    return b64decode(plain + "=" * (-len(plain) % 4), validate=True)


def adapted_base64(text: str) -> bytes:
    """Decode passlib's variant of base64, with a full stop for the plus sign."""
    return base64(text.replace(".", "+"))


def read_werkzeug(text: str) -> HashAlgorithm:
    """Read `scrypt:N:r:p$salt$hex` or `pbkdf2:sha256:rounds$salt$hex`."""
    method, salt, expected = text.split("$", 2)
    match method.split(":"):
        case ["scrypt", n, r, p]:
            return Scrypt(number(n), number(r), number(p), salt.encode(), bytes.fromhex(expected))
        case ["pbkdf2", digest, rounds]:
            return Pbkdf2(digest, number(rounds), salt.encode(), bytes.fromhex(expected))
    raise ValueError("another method")


DJANGO_PREFIXES = (
    "pbkdf2_sha256$",
    "pbkdf2_sha1$",
    "scrypt$",
    "bcrypt_sha256$",
    "bcrypt$",
    "argon2$",
)


def read_django(text: str) -> HashAlgorithm:
    """Read the name of Django's hasher and what it returned, with `$` between them."""
    hasher, _, made = text.partition("$")
    match hasher:
        case "pbkdf2_sha256" | "pbkdf2_sha1":
            rounds, salt, expected = made.split("$")
            digest = hasher.removeprefix("pbkdf2_")
            return Pbkdf2(digest, number(rounds), salt.encode(), base64(expected))
        case "scrypt":
            n, salt, r, p, expected = made.split("$")
            return Scrypt(number(n), number(r), number(p), salt.encode(), base64(expected))
        case "bcrypt_sha256":
            return read_bcrypt(made, _sha256_in_hex)
        case "bcrypt":
            return read_bcrypt(made)
        case _:
            return read_argon2(f"${made}")


def _sha256_in_hex(password: bytes) -> bytes:
    return hashlib.sha256(password).hexdigest().encode()


PASSLIB_PREFIXES = ("$pbkdf2", "$scrypt$", "$argon2", "$2", "$bcrypt-sha256$")

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


def read_passlib(text: str) -> HashAlgorithm:
    """Read `$scheme$…`, as passlib, pwdlib, PHP and the Argon2 libraries write it."""
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


def read_argon2(text: str) -> HashAlgorithm:
    found = _match(_ARGON2, text)
    return Argon2(text, found[1], int(found[2]), int(found[3]), int(found[4]))


def read_bcrypt(text: str, prepare: Callable[[bytes], bytes] = bytes) -> HashAlgorithm:
    return Bcrypt(text, int(_match(_BCRYPT, text)[1]), prepare)


def _read_scrypt(text: str) -> HashAlgorithm:
    options, salt, expected = text.split("$")[2:]
    said = dict(option.split("=") for option in options.split(","))
    if not 1 <= number(said["ln"]) <= 32:
        raise ValueError("no such cost")
    n, r, p = 2 ** number(said["ln"]), number(said["r"]), number(said["p"])
    return Scrypt(n, r, p, base64(salt), base64(expected))


def _read_bcrypt_sha256(text: str) -> HashAlgorithm:
    """Version 1 hashes the password alone; version 2 uses the salt as a key."""
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


_BETTER_AUTH = re.compile(r"([0-9a-f]{32}):([0-9a-f]{128})", re.ASCII)


class BetterAuthScrypt(NamedTuple):
    inner: Scrypt

    def check(self) -> None:
        self.inner.check()

    def matches(self, password: bytes) -> bool:
        """Return the password normalized as Unicode; the salt is used as hexadecimal text."""
        return self.inner.matches(unicodedata.normalize("NFKC", password.decode()).encode())


def read_better_auth(text: str) -> HashAlgorithm:
    """Read `salt:key` in hexadecimal digits; recognized by its form, because it has no prefix."""
    found = _BETTER_AUTH.fullmatch(text)
    if found is None:
        raise ValueError("unknown format")
    return BetterAuthScrypt(Scrypt(16384, 16, 1, found[1].encode(), bytes.fromhex(found[2])))
