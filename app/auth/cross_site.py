"""The check of requests that browsers authenticate by themselves, with a cookie for example.

A browser sends a cookie with requests of every page. A request that changes data is accepted only
from a page of this origin, or of an allowed origin, by the headers that browsers set.
"""

from __future__ import annotations

from dataclasses import dataclass

from flask import Request, current_app

from ..core.config.settings import CoreSettings
from ..core.context import find_context
from ..core.errors import Forbidden
from ..core.types import Values
from ..core.web.request_hooks import origin_of

# `Sec-Fetch-Site` of a request from a page of this origin, or from the browser's address bar.
_OWN = ("same-origin", "none")


class CrossSite(Forbidden):
    """Sent by a page of another origin, or by a program that does not say which page it is."""

    code = "cross_site"
    detail = "This request comes from another site"
    title = "The request comes from another site"
    cause = (
        "A request that the browser authenticates by itself, such as with a session cookie, was"
        " sent from a page of another origin, or without the headers `Sec-Fetch-Site` and `Origin`."
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


def allowed_origins(core: CoreSettings) -> frozenset[str]:
    return frozenset(origin_of(url).lower() for url in (core.page_host, *core.CORS_ORIGINS))


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
