"""Where a form leads once it is done, and back to where somebody was."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from flask import Response, request, url_for

from ..core.web.paging import own_path
from .notices import Undo, say

# As the service mounts it.
MOUNTED = "console"


def to(endpoint: str, **values: Any) -> str:
    """A link within the console, wherever it is mounted."""
    if request.blueprint is None:
        # Of an address where nothing is, there is a page too.
        endpoint = f"{MOUNTED}{endpoint}"
    return url_for(endpoint, **values)


def go(
    endpoint: str,
    said: str = "",
    *,
    kind: str = "success",
    undo: Undo | None = None,
    **values: Any,
) -> Response:
    """After a form: the next page, which says once what has been done."""
    return go_to(to(endpoint, **values), said, kind=kind, undo=undo)


def go_to(
    path: str, said: str = "", *, kind: str = "success", undo: Undo | None = None
) -> Response:
    response = Response(status=303, headers={"Location": path})
    return say(response, said, kind, undo) if said else response


def asked_next(default: str) -> str:
    """The page that somebody wanted before they were sent to sign in: one of ours, whatever the
    link says."""
    given: Mapping[str, str] = request.form if request.method == "POST" else request.args
    return own_path_of(given.get("next", "")) or default


def own_path_of(address: str) -> str:
    """The path of an address of ours; empty for any other."""
    if not address.isprintable() or "\\" in address:
        return ""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    if parts.netloc and parts.netloc != request.host:
        return ""
    if not parts.path.startswith("/") or parts.path.startswith("//"):
        return ""
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


def own_address() -> str:
    """Where the reader is, for a way back."""
    query = request.query_string.decode("latin-1")
    return f"{own_path()}?{query}" if query else own_path()


def page_before() -> str:
    """The page whose form this was, as the browser says; empty where it does not."""
    return own_path_of(request.headers.get("Referer", ""))


def is_part() -> bool:
    """Whether a script asks for a part of a page."""
    return "HX-Request" in request.headers and "HX-Boosted" not in request.headers
