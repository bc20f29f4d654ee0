"""Checks for breached passwords with Have I Been Pwned, without sending the password.

The request has the first five digits of the password's SHA-1; the response has the rest of all
hashes with this prefix. Padding hides their number on the network.
"""

import hashlib
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field

SECONDS = 1.0
# The limit of a response; with padding, a response has about forty thousand bytes.
_MOST_BYTES = 1024 * 1024

log = logging.getLogger(__name__)


@dataclass(eq=False)
class Breaches:
    url: str
    # Called when a password is accepted because the service did not respond.
    when_unanswered: list[Callable[[], object]] = field(default_factory=list)

    def know(self, password: str) -> bool:
        digest = hashlib.sha1(password.encode(), usedforsecurity=False).hexdigest().upper()
        try:
            answer = self._ask(digest[:5])
        except (OSError, ValueError) as error:
            log.warning("Breached passwords cannot be checked: %s", type(error).__name__)
            for notify in self.when_unanswered:
                notify()
            return False
        return _has(answer, digest[5:])

    def _ask(self, beginning: str) -> str:
        # Imported only if the setting is on.
        from http.client import HTTPException
        from urllib.request import HTTPRedirectHandler, Request, build_opener

        class RefuseRedirects(HTTPRedirectHandler):
            def redirect_request(self, *_: object) -> None:
                """Reject redirects: only the configured server gets requests."""

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
    """Return whether the response has the rest of a hash. Each line has a count; padding has 0."""
    for line in answer.splitlines():
        found, _, count = line.partition(":")
        if found.upper() == end:
            return count.strip() not in ("", "0")
    return False
