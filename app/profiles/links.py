"""Addresses of pictures: which ones a profile may name, and where ours are found."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from flask import current_app, request, url_for

from ..core.context import current_frontdesk
from ..core.types import JsonObject

# The names of stored pictures: 128 random bits cannot be guessed.
PICTURE_NAME = re.compile(r"[0-9a-f]{32}\.(?:jpg|png)", re.ASCII)

_PLAIN = re.compile(r"[^\s\x00-\x20\x7f-\x9f<>\"\\^`{|}]+")
_LOOPBACK = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?", re.ASCII)

PICTURE_ENDPOINT = "profiles.get_picture"

NOT_AN_ADDRESS = "Not an http or https URL."


def is_web_address(text: str) -> bool:
    if not _PLAIN.fullmatch(text):
        return False
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc


def picture_name(address: str) -> str:
    """The name of one of our pictures in an address, or nothing."""
    name = address.rpartition("/")[2]
    return name if PICTURE_NAME.fullmatch(name) else ""


def is_own_path(address: str) -> bool:
    """One of our pictures without an origin before it, as it is shown where that is not known."""
    return address.startswith("/") and bool(picture_name(address))


def picture_url(name: str) -> str:
    """Where a client finds one of our pictures."""
    if PICTURE_ENDPOINT in current_app.view_functions:
        path = url_for(PICTURE_ENDPOINT, name=name)
    else:  # a host has mounted the blueprint by another name, perhaps inside a workspace's path
        path = url_for(".get_picture", **_mount_values(), name=name)
    return own_address() + path


def own_address() -> str:
    """The service's own origin, as far as it is known; else addresses begin at the root.

    The Host header is anybody's to write. It is believed while developing, when client and service
    are both reached on this very machine.
    """
    core = current_frontdesk.settings.core
    if core.PUBLIC_URL:
        return core.PUBLIC_URL
    host = request.environ.get("HTTP_HOST", "")
    client = urlsplit(core.CLIENT_HOST).netloc
    if _LOOPBACK.fullmatch(host) and _LOOPBACK.fullmatch(client):
        return f"{request.scheme}://{host}"
    return ""


def _mount_values() -> JsonObject:
    slug = (request.view_args or {}).get("workspace_slug")
    return {"workspace_slug": slug} if slug is not None else {}
