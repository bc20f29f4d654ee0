"""Checks of the URLs of the service, of its clients and of its pages."""

import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

from flask import current_app

from ..core.context import current_frontdesk
from ..core.doctor import LOOPBACK, Finding, run_within

RESOLVE_SECONDS = 4.0


def check_client_host() -> Iterator[Finding]:
    core = current_frontdesk.settings.core
    url = urlsplit(core.page_host)
    if url.scheme == "http" and url.hostname not in LOOPBACK:
        name = "PUBLIC_URL" if core.links_to_console else "CLIENT_HOST"
        yield Finding(
            "client_host",
            "warning",
            f"CORE__{name} is an http:// URL, so others on the network can read the links in"
            " emails. Use an https:// URL.",
        )


def check_client_name() -> Iterator[Finding]:
    """Check that recipients of emails can reach the client."""
    core = current_frontdesk.settings.core
    if current_app.debug or current_app.testing or core.links_to_console:
        return
    url = urlsplit(core.CLIENT_HOST)
    name = url.hostname or ""
    if url.path or url.query:
        text = (
            f"CORE__CLIENT_HOST is {core.CLIENT_HOST}, with a path or query. Browsers send only"
            " scheme, host and port, so CORS rejects the client. Remove the path and the query."
        )
        yield Finding("client_host", "warning", text)
    if name in LOOPBACK:
        text = (
            f"CORE__CLIENT_HOST is {core.CLIENT_HOST}, so links in emails lead to the recipient's"
            " own machine. Set CORE__CLIENT_HOST to the client's public URL."
        )
        yield Finding("client_host", "warning", text)
    elif not _resolves(name):
        text = (
            f"The host name of CORE__CLIENT_HOST cannot be resolved: {name}. Correct the setting"
            " or the DNS records."
        )
        yield Finding("client_host", "warning", text)


def _resolves(name: str) -> bool:
    try:
        run_within(RESOLVE_SECONDS, lambda: socket.getaddrinfo(name, None))
    except (OSError, UnicodeError, TimeoutError):
        return False
    return True


def check_console() -> Iterator[Finding]:
    core = current_frontdesk.settings.core
    if core.links_to_console and not core.PUBLIC_URL and core.EMAILS_ENABLED:
        yield Finding(
            "console",
            "warning",
            f"Links in emails lead to {core.page_host}, where the console does not run. Set"
            " CORE__PUBLIC_URL to this service's URL, or CORE__CLIENT_HOST to the URL of a separate"
            " client.",
        )


def check_public_url() -> Iterator[Finding]:
    core = current_frontdesk.settings.core
    if not core.PUBLIC_URL and urlsplit(core.page_host).hostname not in LOOPBACK:
        yield Finding(
            "public_url",
            "warning",
            "CORE__PUBLIC_URL is not set, so the URLs of avatars have no host and work only for a"
            " client with the same origin. Set CORE__PUBLIC_URL to this service's URL.",
        )


def check_proxies() -> Iterator[Finding]:
    """The service has no TLS, so a service with an https:// URL has a proxy in front of it."""
    context = current_frontdesk
    url = urlsplit(context.settings.core.PUBLIC_URL or "")
    is_public = url.scheme == "https" and url.hostname not in LOOPBACK
    if context.owns_application and is_public and not context.settings.core.TRUSTED_PROXIES:
        yield Finding(
            "proxies",
            "warning",
            "CORE__TRUSTED_PROXIES is 0 behind a proxy, so all clients share the proxy's IP address"
            " and the wrong passwords of one client lock out all others. Set CORE__TRUSTED_PROXIES"
            " to the number of proxies.",
        )
