"""Django's: the name of the hasher, and what it made, with `$` between."""

from __future__ import annotations

import hashlib

from . import passlib
from .recipes import Pbkdf2, Recipe, Scrypt
from .text import base64, number

PREFIXES = ("pbkdf2_sha256$", "pbkdf2_sha1$", "scrypt$", "bcrypt_sha256$", "bcrypt$", "argon2$")


def read(text: str) -> Recipe:
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
            return passlib.read_bcrypt(made, _sha256_in_hex)
        case "bcrypt":
            return passlib.read_bcrypt(made)
        case _:
            return passlib.read_argon2(f"${made}")


def _sha256_in_hex(password: bytes) -> bytes:
    return hashlib.sha256(password).hexdigest().encode()
