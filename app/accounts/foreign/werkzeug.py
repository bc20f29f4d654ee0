"""`scrypt:N:r:p$salt$hex` and `pbkdf2:sha256:rounds$salt$hex`, from `generate_password_hash`."""

from __future__ import annotations

from .recipes import Pbkdf2, Recipe, Scrypt
from .text import number


def read(text: str) -> Recipe:
    method, salt, expected = text.split("$", 2)
    match method.split(":"):
        case ["scrypt", n, r, p]:
            return Scrypt(number(n), number(r), number(p), salt.encode(), bytes.fromhex(expected))
        case ["pbkdf2", digest, rounds]:
            return Pbkdf2(digest, number(rounds), salt.encode(), bytes.fromhex(expected))
    raise ValueError("another method")
