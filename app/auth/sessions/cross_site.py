"""Requests that another site's page makes a visitor's browser send.

A browser adds a cookie by itself, whoever wrote the page that asks. So what would change something
counts only if the browser says that the page is of our own origin, or of one that we list.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flask import Request, current_app

from ...core.context import find_context
from ...core.errors import Forbidden
from ...core.web.envelope import origin_of

# What a browser says of a request that our own page makes, or that its user makes without a page.
_OWN = ("same-origin", "none")


class CrossSite(Forbidden):
    """Sent by a page of another origin, or by a program that does not say which page it is."""

    code = "cross_site"
    detail = "This request comes from another site"


@dataclass(eq=False)
class CrossSiteCheck:
    """Fetch Metadata first; a browser that does not send it is asked for the Origin.

    A neighbour on the same site is a stranger unless it is listed: whoever has one subdomain would
    else have them all.
    """

    # Scheme and host, besides our own: of the client, and further ones that CORS lets in.
    origins: frozenset[str]

    def check(self, request: Request, note: Mapping[str, Any] | None = None) -> None:
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
