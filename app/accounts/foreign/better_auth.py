"""better-auth's `salt:key` in hexadecimal digits, which no prefix tells apart and the form does."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from .recipes import Recipe, Scrypt

_FORM = re.compile(r"([0-9a-f]{32}):([0-9a-f]{128})", re.ASCII)


class BetterAuthScrypt(NamedTuple):
    inner: Scrypt

    def check(self) -> None:
        self.inner.check()

    def matches(self, password: bytes) -> bool:
        """It brings the password into one form of Unicode first, and takes the digits for salt."""
        return self.inner.matches(unicodedata.normalize("NFKC", password.decode()).encode())


def read(text: str) -> Recipe:
    found = _FORM.fullmatch(text)
    if found is None:
        raise ValueError("nobody's form")
    return BetterAuthScrypt(Scrypt(16384, 16, 1, found[1].encode(), bytes.fromhex(found[2])))
