"""The form of tokens for programs: a prefix, 32 random characters, and 6 characters of a checksum.

The checksum is the CRC-32 (that of zlib and gzip) of the 36 characters before it, the prefix
included, as six base62 digits (`0-9A-Za-z`), the most significant first. So a token that was cut
off, mistyped or made up is rejected without a query, and secret scanners have few false alarms.
"""

import re
import secrets
import string
from hashlib import sha256
from zlib import crc32

PERSONAL, WORKSPACE = "fdp_", "fdw_"
# How much of a token is stored and shown, so that its owner recognizes it.
SHOWN_LENGTH = 8
RANDOM_LENGTH = 32

_DIGITS = string.digits + string.ascii_uppercase + string.ascii_lowercase
_CHECKSUM_LENGTH = 6
_BEARER = re.compile(r"(?i:bearer) {1,9}(fd[pw]_[0-9A-Za-z]{38}) {0,9}", re.ASCII)


def new_token(prefix: str) -> str:
    text = prefix + "".join(secrets.choice(_DIGITS) for _ in range(RANDOM_LENGTH))
    return text + _checksum(text)


def find_token(header: str) -> str | None:
    """Return the token of an `Authorization` header; None for another form or a wrong checksum."""
    match = _BEARER.fullmatch(header)
    if match is None:
        return None
    token = match[1]
    return token if token.endswith(_checksum(token[:-_CHECKSUM_LENGTH])) else None


def digest_of(token: str) -> str:
    """Return the stored digest. It needs no key, because a token has 190 random bits."""
    return sha256(token.encode()).hexdigest()


def _checksum(text: str) -> str:
    value, digits = crc32(text.encode()), ""
    for _ in range(_CHECKSUM_LENGTH):
        value, digit = divmod(value, len(_DIGITS))
        digits = _DIGITS[digit] + digits
    return digits
