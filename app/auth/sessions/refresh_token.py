"""Refresh tokens: their format, and the checks before a query.

A token names a session and a value of its counter, followed by two keyed digests. One uses the key
in the session's row: the secret key alone cannot create a token. The other uses the secret key: a
forged token causes no query. No token is stored: the same counter always gives the same token.
"""

import base64
import hashlib
import hmac
import re
import struct
from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from .schemas import InvalidGrant

# Secret scanners recognize a leaked token by this prefix.
PREFIX = "fdr_"
LENGTH = len(PREFIX) + 76
_SHAPE = re.compile(rf"{PREFIX}([A-Za-z0-9_-]{{76}})", re.ASCII)
# The version of the format, the session, the counter.
_BODY = struct.Struct(">B16sQ")
_VERSION = 1
_DIGEST = 16
_SESSION_DIGEST = b"frontdesk.refresh"
_CHECKSUM = b"frontdesk.refresh.checksum"


class ParsedToken(NamedTuple):
    """The content of a token with a valid checksum; the session's digest is not checked yet."""

    session_id: UUID
    counter: int
    digest: bytes


class RefreshTokens:
    def __init__(self, secret: str, fallbacks: Sequence[str]) -> None:
        # The first key signs; tokens of the other keys are still accepted.
        self._secrets = [key.encode() for key in (secret, *fallbacks)]

    def write(self, session_id: UUID, counter: int, key: bytes) -> str:
        body = _BODY.pack(_VERSION, session_id.bytes, counter)
        signed = body + _digest(key, _SESSION_DIGEST, body)
        whole = signed + _digest(self._secrets[0], _CHECKSUM, signed)
        return PREFIX + base64.urlsafe_b64encode(whole).decode()

    def read(self, text: str) -> ParsedToken:
        """Return the content of a token; raise InvalidGrant for a malformed or forged one."""
        shape = _SHAPE.fullmatch(text)
        if shape is None:
            raise InvalidGrant
        whole = base64.urlsafe_b64decode(shape[1])
        signed, checksum = whole[:-_DIGEST], whole[-_DIGEST:]
        known = (_digest(secret, _CHECKSUM, signed) for secret in self._secrets)
        if not any(hmac.compare_digest(each, checksum) for each in known):
            raise InvalidGrant
        version, session_id, counter = _BODY.unpack(signed[:-_DIGEST])
        if version != _VERSION:
            raise InvalidGrant
        return ParsedToken(UUID(bytes=session_id), counter, signed[-_DIGEST:])

    def is_by(self, key: bytes, claimed: ParsedToken) -> bool:
        """Return whether the session with this key issued the token."""
        body = _BODY.pack(_VERSION, claimed.session_id.bytes, claimed.counter)
        return hmac.compare_digest(_digest(key, _SESSION_DIGEST, body), claimed.digest)


def _digest(key: bytes, purpose: bytes, text: bytes) -> bytes:
    return hmac.new(key, purpose + b"\0" + text, hashlib.sha256).digest()[:_DIGEST]
