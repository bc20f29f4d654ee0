"""Reading what stands in a hash: whole numbers in ASCII digits, and the kinds of base64."""

from __future__ import annotations

import re
from base64 import b64decode

_NUMBER = re.compile(r"[0-9]{1,10}", re.ASCII)


def number(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise ValueError("not a number")
    return int(text)


def base64(text: str) -> bytes:
    """Standard or for URLs, with its padding or without."""
    plain = text.rstrip("=").replace("-", "+").replace("_", "/")
    return b64decode(plain + "=" * (-len(plain) % 4), validate=True)


def adapted_base64(text: str) -> bytes:
    """passlib's own, with a full stop for the plus sign."""
    return base64(text.replace(".", "+"))
