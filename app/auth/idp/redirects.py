"""The allowed redirect URIs: an attacker's URI would receive the code of a sign-in."""

import re
from collections.abc import Collection
from urllib.parse import urlsplit

from .provider import Provider

# The characters of a URI without a fragment, which OAuth forbids here. Python's parser silently
# removes other characters, and would check another URI than the browser opens.
_ALLOWED = re.compile(r"[A-Za-z0-9._~:/?\[\]@!$&'()*+,;=%-]+", re.ASCII)
_PORTS = {"http": 80, "https": 443}

_UrlOrigin = tuple[str, str | None, int | None]


class RedirectUris:
    def __init__(self, default: str, hosts: Collection[str], allowed: Collection[str]) -> None:
        """`hosts` are the origins of the console and the client."""
        self.default = default
        self._exact = frozenset((default, *allowed)) - {""}
        self._origins = frozenset(filter(None, map(_origin, hosts)))

    def allow(self, uri: str) -> None:
        """Allow one more redirect URI: a page of the console."""
        self._exact |= {uri}

    def allows(self, uri: str, provider: Provider | None = None) -> bool:
        if provider is not None and provider.posts_form:
            # The form is sent to this server, which does not know the sign-in that it belongs to.
            return uri == provider.redirect_uri
        if uri in self._exact or (provider is not None and uri == provider.redirect_uri):
            return True
        return bool(_ALLOWED.fullmatch(uri)) and _origin(uri) in self._origins


def _origin(uri: str) -> _UrlOrigin | None:
    try:
        parts = urlsplit(uri)
        if parts.scheme not in _PORTS or "@" in parts.netloc:
            return None
        return parts.scheme, parts.hostname, parts.port or _PORTS[parts.scheme]
    except ValueError:
        return None
