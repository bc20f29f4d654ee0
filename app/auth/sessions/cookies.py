"""The cookie that signs a browser in: what it holds, how it is set, read and taken away.

It names a session and carries its secret, and says nothing else; of the secret only a digest is
stored, so that nobody who reads the table could make a cookie of it.

A browser adds a cookie by itself, whichever page sends the request. A request that would change
something is accepted only from a page of our own origin, or of a listed one, as the browser tells.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Literal, NamedTuple
from uuid import UUID

from flask import Request, Response, after_this_request, current_app, request

from ...core.clock import Clock
from ...core.context import find_context
from ...core.errors import Forbidden
from ...core.types import Values
from ...core.web.request_hooks import origin_of
from ..errors import InvalidCredentials

PLAIN_NAME = "fd"
ID_BYTES = 16
# Of 16 and 32 bytes: base64 without padding, in which each value is written in one way alone.
_VALUE = re.compile(r"[A-Za-z0-9_-]{64}", re.ASCII)


class SessionCookie(NamedTuple):
    """What a browser holds."""

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
        """With its prefix no host beside ours, and nobody without TLS, can plant one; for a whole
        domain only the latter holds."""
        return PLAIN_NAME if is_plain(request) else self.usual_name

    @property
    def usual_name(self) -> str:
        return f"__Secure-{PLAIN_NAME}" if self.domain else f"__Host-{PLAIN_NAME}"

    def held(self, request: Request) -> SessionCookie | None:
        """Return the value of the request's cookie; reject a foreign one."""
        header: str | None = request.environ.get("HTTP_COOKIE")
        if header is None:
            return None
        values = _values(header, self.name(request))
        if not values:
            return None
        # One of two cookies was planted, and the server does not know which.
        if len(values) > 1 or _VALUE.fullmatch(values[0]) is None:
            raise InvalidCredentials(note={"reason": "malformed_cookie"})
        held = urlsafe_b64decode(values[0])
        return SessionCookie(UUID(bytes=held[:ID_BYTES]), held[ID_BYTES:])

    def give(self, held: SessionCookie, expires_at: datetime) -> None:
        """The answer to this request sets it."""
        value = urlsafe_b64encode(held.public_id.bytes + held.secret).decode()
        seconds = round((expires_at - self.clock.now()).total_seconds())
        self._put_into_answer(value, seconds)

    def take_away(self) -> None:
        """The answer to this request does."""
        self._put_into_answer("", 0)

    def _put_into_answer(self, value: str, seconds: int) -> None:
        name, is_secure = self.name(request), not is_plain(request)

        @after_this_request
        def put(response: Response) -> Response:
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
    """All with this very name.

    Werkzeug's own reading takes every space of Unicode off a name, so that one which a neighbour
    may set (a `__Host-` behind U+2003) would become one which it may not.
    """
    pairs = (pair.strip(" \t").partition("=") for pair in header.split(";"))
    return [value for found, _, value in pairs if found == name]


# What a browser says of a request that our own page makes, or that its user makes without a page.
_OWN = ("same-origin", "none")


class CrossSite(Forbidden):
    """Sent by a page of another origin, or by a program that does not say which page it is."""

    code = "cross_site"
    detail = "This request comes from another site"
    title = "The request comes from another site"
    cause = (
        "A request with a session cookie was sent from a page of another origin, or without the"
        " headers `Sec-Fetch-Site` and `Origin`."
    )
    fix = (
        "Send the request from a page of an allowed origin. Operators allow origins with"
        " `CORE__CORS_ORIGINS`."
    )


@dataclass(eq=False)
class CrossSiteCheck:
    """Fetch Metadata first; a browser that does not send it is asked for the Origin.

    A neighbour on the same site is a stranger unless it is listed: whoever has one subdomain would
    else have them all.
    """

    # Allowed origins besides this one: the client, and the origins in the CORS settings.
    origins: frozenset[str]

    def check(self, request: Request, note: Values | None = None) -> None:
        environ = request.environ
        if environ.get("HTTP_SEC_FETCH_SITE") in _OWN:
            return
        origin = environ.get("HTTP_ORIGIN", "").lower()
        if origin and (origin in self.origins or origin == own_origin(request)):
            return
        raise CrossSite(note={**(note or {}), "origin": origin[:200] or None})


def own_origin(request: Request) -> str:
    """`CORE.PUBLIC_URL` where it is set: a client can write any `Host` header.

    Otherwise the host that was asked. A Secure cookie comes over TLS alone, so that the page was
    https whatever a proxy in front does not tell: an http:// page of our own name may be anybody's
    who sits on the line."""
    if public_url := find_context().settings.core.PUBLIC_URL:
        return origin_of(public_url).lower()
    scheme = "http" if is_plain(request) else "https"
    return f"{scheme}://{request.environ.get('HTTP_HOST', '')}".lower()


def is_plain(request: Request) -> bool:
    """Development without TLS, where a browser would keep no Secure cookie."""
    return current_app.debug and not request.is_secure
