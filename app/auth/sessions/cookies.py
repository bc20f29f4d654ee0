"""The session cookie: its value, and how it is set, read and deleted.

The cookie has the id of a session and its secret. Only a digest of the secret is stored, so that a
leaked table contains no valid cookie.
"""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Literal, NamedTuple
from uuid import UUID

from flask import Request, Response, after_this_request, request

from ...core.clock import Clock
from ...core.errors import MALFORMED
from ..cross_site import is_plain
from ..errors import InvalidCredentials

PLAIN_NAME = "fd"
ID_BYTES = 16
# 16 and 32 bytes as base64 without padding: each value has exactly one form.
_VALUE = re.compile(r"[A-Za-z0-9_-]{64}", re.ASCII)


class SessionCookie(NamedTuple):
    public_id: UUID
    secret: bytes

    @property
    def digest(self) -> bytes:
        return sha256(self.secret).digest()


@dataclass(eq=False)
class Cookies:
    clock: Clock
    # The domain with all hosts that get the cookie; empty: only this host.
    domain: str
    samesite: Literal["Lax", "Strict"]

    def name(self, request: Request) -> str:
        """Return the cookie's name. Browsers accept the prefix `__Host-` only from this host over
        TLS, and `__Secure-`, for a whole domain, from any of its hosts over TLS."""
        return PLAIN_NAME if is_plain(request) else self.usual_name

    @property
    def usual_name(self) -> str:
        return f"__Secure-{PLAIN_NAME}" if self.domain else f"__Host-{PLAIN_NAME}"

    def read(self, request: Request) -> SessionCookie | None:
        """Return the value of the request's cookie, or None; raise for a malformed cookie."""
        header: str | None = request.environ.get("HTTP_COOKIE")
        if header is None:
            return None
        values = _values(header, self.name(request))
        if not values:
            return None
        # An attacker may have set one of two cookies; the server does not know which.
        if len(values) > 1 or _VALUE.fullmatch(values[0]) is None:
            raise InvalidCredentials(reason=MALFORMED, note={"reason": "malformed_cookie"})
        cookie = urlsafe_b64decode(values[0])
        return SessionCookie(UUID(bytes=cookie[:ID_BYTES]), cookie[ID_BYTES:])

    def set(self, cookie: SessionCookie, expires_at: datetime) -> None:
        value = urlsafe_b64encode(cookie.public_id.bytes + cookie.secret).decode()
        seconds = round((expires_at - self.clock.now()).total_seconds())
        self._add_to_response(value, seconds)

    def delete(self) -> None:
        """Delete the cookie in the response to this request."""
        self._add_to_response("", 0)

    def _add_to_response(self, value: str, seconds: int) -> None:
        name, is_secure = self.name(request), not is_plain(request)

        @after_this_request
        def add(response: Response) -> Response:
            response.set_cookie(
                name,
                value,
                max_age=seconds,
                path="/",
                domain=self.domain or None,
                secure=is_secure,
                httponly=True,
                samesite=self.samesite,
            )
            return response


def _values(header: str, name: str) -> list[str]:
    """Return the values of all cookies with exactly this name.

    Werkzeug strips all Unicode spaces from names: a cookie that another host of the domain may set
    (`__Host-` after U+2003) would be read as a cookie that it may not set.
    """
    pairs = (pair.strip(" \t").partition("=") for pair in header.split(";"))
    return [value for found, _, value in pairs if found == name]
