"""Passwords that others have lost, asked of Have I Been Pwned without telling which one is meant.

It is told the first five digits of the password's SHA-1, and answers with the ends of all hashes
that begin so; padding hides from a listener how many there are.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field

SECONDS = 1.0
# Of an answer; with padding it has some forty thousand.
_MOST_BYTES = 1024 * 1024

log = logging.getLogger(__name__)


@dataclass(eq=False)
class Breaches:
    url: str
    # Called whenever a password was let through for want of an answer.
    when_unanswered: list[Callable[[], object]] = field(default_factory=list)

    def know(self, password: str) -> bool:
        digest = hashlib.sha1(password.encode(), usedforsecurity=False).hexdigest().upper()
        try:
            answer = self._ask(digest[:5])
        except (OSError, ValueError) as error:
            log.warning("Breached passwords cannot be asked for: %s", type(error).__name__)
            for tell in self.when_unanswered:
                tell()
            return False
        return _has(answer, digest[5:])

    def _ask(self, beginning: str) -> str:
        # Loaded where the setting is on.
        from http.client import HTTPException
        from urllib.request import HTTPRedirectHandler, Request, build_opener

        class RefuseRedirects(HTTPRedirectHandler):
            def redirect_request(self, *_: object) -> None:
                """Only the server that the setting names is asked."""

        headers = {"Add-Padding": "true", "User-Agent": "flask-frontdesk"}
        request = Request(f"{self.url}/range/{beginning}", headers=headers)  # noqa: S310
        until = time.monotonic() + SECONDS
        try:
            with build_opener(RefuseRedirects).open(request, timeout=SECONDS) as answer:
                body = b""
                while part := answer.read1(_MOST_BYTES):
                    body += part
                    if len(body) > _MOST_BYTES or time.monotonic() > until:
                        raise TimeoutError
                return body.decode("ascii")
        except HTTPException as error:
            raise OSError(str(error)) from error


def _has(answer: str, end: str) -> bool:
    """Each line is the end of a hash and how often it was found; padding was found 0 times."""
    for line in answer.splitlines():
        found, _, count = line.partition(":")
        if found.upper() == end:
            return count.strip() not in ("", "0")
    return False
