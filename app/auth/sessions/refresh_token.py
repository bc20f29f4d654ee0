"""Refresh tokens: their format, and the checks before a query.

A token names a session and a step of its counter. Two keyed digests stand behind them: one by the
key of the session's row, without which knowing our secret makes no token, and one by our secret,
without which no text reaches the database. None of it is stored, so the same step has the same
token however often it is written.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import struct
from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from .schemas import InvalidGrant

# Identifies a token that is found in a log or a repository.
PREFIX = "fdr_"
LENGTH = len(PREFIX) + 76
_SHAPE = re.compile(rf"{PREFIX}([A-Za-z0-9_-]{{76}})", re.ASCII)
# The edition of this form, the session, the counter.
_BODY = struct.Struct(">B16sQ")
_EDITION = 1
_DIGEST = 16
_OF_SESSION = b"frontdesk.refresh"
_OF_US = b"frontdesk.refresh.checksum"


class ParsedToken(NamedTuple):
    """What a token says that we have made; whether the session's key agrees is still open."""

    session_id: UUID
    counter: int
    digest: bytes


class RefreshTokens:
    def __init__(self, secret: str, fallbacks: Sequence[str]) -> None:
        # The first makes them; what was made by the others is still known again.
        self._secrets = [key.encode() for key in (secret, *fallbacks)]

    def write(self, session_id: UUID, counter: int, key: bytes) -> str:
        body = _BODY.pack(_EDITION, session_id.bytes, counter)
        signed = body + _digest(key, _OF_SESSION, body)
        whole = signed + _digest(self._secrets[0], _OF_US, signed)
        return PREFIX + base64.urlsafe_b64encode(whole).decode()

    def read(self, text: str) -> ParsedToken:
        """InvalidGrant for whatever we have not made."""
        shape = _SHAPE.fullmatch(text)
        if shape is None:
            raise InvalidGrant
        whole = base64.urlsafe_b64decode(shape[1])
        signed, checksum = whole[:-_DIGEST], whole[-_DIGEST:]
        known = (_digest(secret, _OF_US, signed) for secret in self._secrets)
        if not any(hmac.compare_digest(each, checksum) for each in known):
            raise InvalidGrant
        edition, session_id, counter = _BODY.unpack(signed[:-_DIGEST])
        if edition != _EDITION:
            raise InvalidGrant
        return ParsedToken(UUID(bytes=session_id), counter, signed[-_DIGEST:])

    def is_by(self, key: bytes, claimed: ParsedToken) -> bool:
        """Whether a session with this key has given the token out."""
        body = _BODY.pack(_EDITION, claimed.session_id.bytes, claimed.counter)
        return hmac.compare_digest(_digest(key, _OF_SESSION, body), claimed.digest)


def _digest(key: bytes, what: bytes, text: bytes) -> bytes:
    return hmac.new(key, what + b"\0" + text, hashlib.sha256).digest()[:_DIGEST]
