"""URLs of pictures: which ones a profile may have, and those of stored pictures."""

import re
from urllib.parse import urlsplit

from flask import current_app, request, url_for

from ..core.coded_messages import CodedMessage
from ..core.context import current_frontdesk
from ..core.types import JsonObject

# The names of stored pictures: 128 random bits cannot be guessed.
PICTURE_NAME = re.compile(r"[0-9a-f]{32}\.(?:jpg|png)", re.ASCII)

_PLAIN = re.compile(r"[^\s\x00-\x20\x7f-\x9f<>\"\\^`{|}]+")
_LOOPBACK = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?", re.ASCII)

PICTURE_ENDPOINT = "profiles.get_picture"

NOT_A_URL = CodedMessage("Not an http or https URL.", "invalid_format", expected="url")


def is_web_url(text: str) -> bool:
    if not _PLAIN.fullmatch(text):
        return False
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc


def picture_name(url: str) -> str:
    """Return the name of a stored picture in a URL, or an empty string."""
    name = url.rpartition("/")[2]
    return name if PICTURE_NAME.fullmatch(name) else ""


def is_picture_path(url: str) -> bool:
    """Return whether a URL is the path of a stored picture, without an origin."""
    return url.startswith("/") and bool(picture_name(url))


def picture_url(name: str) -> str:
    if PICTURE_ENDPOINT in current_app.view_functions:
        path = url_for(PICTURE_ENDPOINT, name=name)
    else:  # the blueprint has another name here, and perhaps a workspace in its path
        path = url_for(".get_picture", **_path_values(), name=name)
    return service_origin() + path


def service_origin() -> str:
    """Return the service's origin, or an empty string if it is not known.

    Clients control the Host header, so it is only used in development, when client and service are
    both on the loopback interface.
    """
    core = current_frontdesk.settings.core
    if core.PUBLIC_URL:
        return core.PUBLIC_URL
    host = request.environ.get("HTTP_HOST", "")
    client = urlsplit(core.CLIENT_HOST).netloc
    if _LOOPBACK.fullmatch(host) and _LOOPBACK.fullmatch(client):
        return f"{request.scheme}://{host}"
    return ""


def _path_values() -> JsonObject:
    slug = (request.view_args or {}).get("workspace_slug")
    return {"workspace_slug": slug} if slug is not None else {}
