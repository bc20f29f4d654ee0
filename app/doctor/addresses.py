"""What the doctor finds in where the service, its clients and its pages are said to be."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

from flask import current_app

from ..core.context import current_frontdesk
from .delivery import LOOPBACK
from .findings import Finding, ask_within

RESOLVE_SECONDS = 4.0


def check_client_host() -> Iterator[Finding]:
    core = current_frontdesk.settings.core
    url = urlsplit(core.page_host)
    if url.scheme == "http" and url.hostname not in LOOPBACK:
        name = "PUBLIC_URL" if core.links_to_console else "CLIENT_HOST"
        yield Finding(
            "client_host", "warning", f"CORE__{name} is plain HTTP: mailed links can be read"
        )


def check_client_name() -> Iterator[Finding]:
    """A client that nobody but this machine, or nobody at all, can reach."""
    core = current_frontdesk.settings.core
    if current_app.debug or current_app.testing or core.links_to_console:
        return
    url = urlsplit(core.CLIENT_HOST)
    name = url.hostname or ""
    if url.path or url.query:
        text = (
            f"CORE__CLIENT_HOST has a path ({url.path}): browsers send origins without one, so CORS"
            " refuses the client; set scheme, host and port alone"
        )
        yield Finding("client_host", "warning", text)
    if name in LOOPBACK:
        text = (
            f"CORE__CLIENT_HOST is {core.CLIENT_HOST}: links in emails lead to the recipient's own"
            " machine; set the client's public address"
        )
        yield Finding("client_host", "warning", text)
    elif not _resolves(name):
        text = f"the host name of CORE__CLIENT_HOST cannot be resolved: {name}"
        yield Finding("client_host", "warning", text)


def _resolves(name: str) -> bool:
    try:
        ask_within(RESOLVE_SECONDS, lambda: socket.getaddrinfo(name, None))
    except (OSError, UnicodeError, TimeoutError):
        return False
    return True


def check_console() -> Iterator[Finding]:
    core = current_frontdesk.settings.core
    if core.links_to_console and not core.PUBLIC_URL and core.EMAILS_ENABLED:
        yield Finding(
            "console",
            "warning",
            f"links in mails lead to {core.page_host}, where the console is not: set"
            " CORE__PUBLIC_URL to this service's own address, or CORE__CLIENT_HOST to that of a"
            " client with pages of its own",
        )


def check_public_url() -> Iterator[Finding]:
    core = current_frontdesk.settings.core
    if not core.PUBLIC_URL and urlsplit(core.page_host).hostname not in LOOPBACK:
        yield Finding(
            "public_url",
            "warning",
            "CORE__PUBLIC_URL is not set: avatars' URLs begin at the root, and work for a client"
            " of the same origin only",
        )


def check_proxies() -> Iterator[Finding]:
    """The service speaks no TLS itself: at an https address something stands in front of it."""
    context = current_frontdesk
    url = urlsplit(context.settings.core.PUBLIC_URL or "")
    is_public = url.scheme == "https" and url.hostname not in LOOPBACK
    if context.owns_application and is_public and not context.settings.core.TRUSTED_PROXIES:
        yield Finding(
            "proxies",
            "warning",
            "CORE__TRUSTED_PROXIES is 0 behind a proxy: all clients share its address, and wrong"
            " passwords of one lock others out; set it to the number of proxies",
        )
