"""The session cookie: its value, how it is set, read and deleted, and the check of other sites.

The cookie has the id of a session and its secret. Only a digest of the secret is stored, so that a
leaked table contains no valid cookie.

A browser sends a cookie with requests of every page. A request that changes data is accepted only
from a page of this origin, or of an allowed origin, by the headers that browsers set.
"""

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
from ...core.errors import MALFORMED, Forbidden
from ...core.types import Values
from ...core.web.request_hooks import origin_of
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


# `Sec-Fetch-Site` of a request from a page of this origin, or from the browser's address bar.
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
    """Checks Fetch Metadata, and the `Origin` header if the browser does not send it.

    Another origin of the same site is rejected unless it is allowed: an attacker with one subdomain
    would otherwise reach all of them.
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
    """Return the origin of `CORE.PUBLIC_URL` if set: a client can send any `Host` header.

    Otherwise return the origin of the request's host. The scheme is https even if a proxy does not
    forward it, because browsers send a Secure cookie only over TLS: an attacker on the network can
    imitate an http:// page of this host."""
    if public_url := find_context().settings.core.PUBLIC_URL:
        return origin_of(public_url).lower()
    scheme = "http" if is_plain(request) else "https"
    return f"{scheme}://{request.environ.get('HTTP_HOST', '')}".lower()


def is_plain(request: Request) -> bool:
    """Return whether this is development without TLS, where browsers reject Secure cookies."""
    return current_app.debug and not request.is_secure
