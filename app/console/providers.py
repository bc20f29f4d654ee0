"""The identity providers on the pages: their names, their links, and their redirect URIs."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from posixpath import commonpath
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from flask import request

from ..auth.cross_site import own_origin
from ..core.context import current_frontdesk, service
from ..core.errors import Unavailable
from .links import link_to
from .resources import ConsoleResources
from .texts import _

if TYPE_CHECKING:
    from ..auth.idp.provider import Provider

log = logging.getLogger(__name__)


class ProviderLink(NamedTuple):
    """A provider, for the button that opens it."""

    name: str
    title: str

    def sign_in(self, next_page: str = "") -> str:
        """Return the path that redirects to the provider; `next_page` opens after the sign-in."""
        return link_to(".provider_sign_in", provider=self.name, next=next_page or None)


def provider_links() -> list[ProviderLink]:
    """Return the providers with sign-ins that the console can finish."""
    return [
        ProviderLink(each.name, each.title)
        for each in _providers().values()
        # Such a provider has one redirect URI, which may be a page of another client.
        if not each.posts_form or find_redirect_uri(each.name)
    ]


def provider_title(name: str) -> str:
    """Return the name of the provider for users, or an empty string without the provider."""
    found = _providers().get(name)
    return found.title if found else ""


def title_of_page(url: str) -> str:
    """Return the name of the provider with this page, or the name of its host."""
    host = urlsplit(url).netloc
    found = [each for each in _providers().values() if urlsplit(each.metadata_url).netloc == host]
    # Several providers may have one host, each with a path.
    nearest = max(found, key=lambda each: len(commonpath([url, each.metadata_url])), default=None)
    return nearest.title if nearest else host


def returned_values(values: Mapping[str, str]) -> dict[str, str]:
    """Return what the provider adds to the redirect URI; not all send `iss` (RFC 9207)."""
    return {name: values.get(name, "") for name in ("code", "state", "iss") if name in values}


def redirect_uri(name: str) -> str:
    """Return the allowed redirect URI of the console, which is the same in all requests."""
    here = f"{own_origin(request)}{link_to('.provider_callback', provider=name)}"
    if name not in _providers():
        # The provider does not exist, which the API reports.
        return here
    if found := find_redirect_uri(name):
        return found
    log.warning(
        "Sign-in through the identity provider %s is unavailable on the pages: %s is not an allowed"
        " redirect URI. Add it to IDP_ALLOWED_REDIRECT_URIS and register it at the provider.",
        name,
        here,
    )
    raise Unavailable(_("Sign-in through the identity provider is not configured."))


def find_redirect_uri(name: str) -> str:
    """Return the allowed redirect URI of the console, or an empty string."""
    from ..auth.idp.provider import RedirectUris

    provider, path = _providers()[name], link_to(".provider_callback", provider=name)
    own, here = provider.redirect_uri, own_origin(request)
    # Without PUBLIC_URL, a proxy may hide whether the page has TLS.
    core = current_frontdesk.settings.core
    hosts = [here] if core.PUBLIC_URL else [here, request.host_url.rstrip("/")]
    candidates = [*([own] if urlsplit(own).path == path else ()), *(f"{at}{path}" for at in hosts)]
    allowed = service(RedirectUris)
    return next((uri for uri in candidates if allowed.allows(uri, provider)), "")


def _providers() -> Mapping[str, Provider]:
    if not service(ConsoleResources).features.provider:
        return {}
    # Imported here, because few applications have identity providers.
    from ..auth.idp.providers import Providers

    return service(Providers)
