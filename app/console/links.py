"""Links and redirects between pages, notices after a redirect, and the pages of a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import orjson
from flask import Response, current_app, request, url_for
from markupsafe import Markup, escape
from werkzeug.datastructures import MultiDict

from ..auth.cross_site import own_origin
from ..core.context import current_frontdesk
from ..core.keystore import KeystoreUnavailable
from ..core.types import JsonObject, Values
from ..core.web.paging import Listed, own_path
from .cookies import BrowserEntry, cookie_name, delete_cookie

# The name under which the service registers the blueprint.
BLUEPRINT = "console"


def link_to(endpoint: str, **values: Any) -> str:
    """Return the path of a page of the console."""
    if request.blueprint is None:
        # The 404 page of a path without a route.
        endpoint = f"{BLUEPRINT}{endpoint}"
    return url_for(endpoint, **values)


def content_url(url: str) -> str:
    """Return the URL that a notification or a banner opens. Without the URL of the service, a path
    is one of this console."""
    core = current_frontdesk.settings.core
    if url.startswith("/") and core.links_to_console and core.PUBLIC_URL is None:
        asset = "/assets/-/-"
        return link_to(".static_asset", digest="-", name="-").removesuffix(asset) + url
    return core.link_url(url)


def redirect_to(
    endpoint: str,
    text: str = "",
    *,
    kind: str = "success",
    undo: Undo | None = None,
    **values: object,
) -> Response:
    """Return the redirect to a page after a form, with a notice that the page shows once."""
    return redirect(link_to(endpoint, **values), text, kind=kind, undo=undo)


def redirect(
    path: str, text: str = "", *, kind: str = "success", undo: Undo | None = None
) -> Response:
    response = Response(status=303, headers={"Location": path})
    return set_notice(response, text, kind, undo) if text else response


def next_path(default: str) -> str:
    """Return the local path in the parameter `next`: the page to open after signing in."""
    given: Mapping[str, str] = request.form if request.method == "POST" else request.args
    return local_path(given.get("next", "")) or default


def local_path(address: str) -> str:
    """Return the path and query of a URL of this site, or an empty string for other sites."""
    if not address.isprintable() or "\\" in address:
        return ""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    # The host of the request is accepted as well: only the path is used, never the host.
    hosts = (request.host, urlsplit(own_origin(request)).netloc)
    if parts.netloc and parts.netloc.lower() not in hosts:
        return ""
    if not parts.path.startswith("/") or parts.path.startswith("//"):
        return ""
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


def current_path() -> str:
    """Return the path and query of this request, to return to later."""
    query = request.query_string.decode("latin-1")
    return f"{own_path()}?{query}" if query else own_path()


def previous_path() -> str:
    """Return the page that contained the form, from the `Referer` header, or an empty string."""
    return local_path(request.headers.get("Referer", ""))


def has_page(path: str) -> bool:
    """Return whether a GET of the local path opens a page."""
    adapter = current_app.create_url_adapter(request)
    own = path.removeprefix(request.root_path)
    return bool(path) and adapter is not None and adapter.test(own, method="GET")


def is_fragment_request() -> bool:
    """Return whether a script requests a part of a page."""
    return "HX-Request" in request.headers and "HX-Boosted" not in request.headers


# The text may contain an email address, which must not be in the cookie itself.
_NOTICE = BrowserEntry("fd-said", "notice")
NOTICE_SECONDS = 60


class Undo(NamedTuple):
    """A form that undoes an action."""

    url: str
    fields: Values


class Notice(NamedTuple):
    text: str
    kind: str = "success"
    undo: Undo | None = None
    # Fills the field of the next page, without being in its URL.
    email: str = ""


def set_notice(
    response: Response, text: str, kind: str = "success", undo: Undo | None = None, email: str = ""
) -> Response:
    """Set the notice for the next page."""
    value = orjson.dumps([str(escape(text)), kind, undo and list(undo), email]).decode()
    # The action of the form is complete: without the state store, only the notice is lost.
    with suppress(KeystoreUnavailable):
        _NOTICE.store(response, value, NOTICE_SECONDS)
    return response


def read_notice() -> Notice | None:
    """Return the notice that the layout shows; `delete_notice` then deletes its cookie."""
    try:
        value = _NOTICE.read()
    except KeystoreUnavailable:
        return None
    if value is None:
        return None
    text, kind, undo, *email = orjson.loads(value)
    # `set_notice` has escaped the text.
    return Notice(Markup(text), kind, Undo(*undo) if undo else None, *email)  # noqa: S704


def delete_notice(response: Response) -> Response:
    if cookie_name(_NOTICE.cookie) in request.cookies:
        delete_cookie(response, _NOTICE.cookie)
    return response


# An offset costs as much as all rows before it: beyond this, users search instead.
MAX_OFFSET = 10_000


class PageLinks(NamedTuple):
    """Links to the previous and next page of a list, and the numbers of the rows on this page."""

    newer: str | None
    older: str | None
    first: int
    last: int


class Paging(NamedTuple):
    offset: int
    limit: int

    @classmethod
    def from_request(cls, limit: int) -> Paging:
        """Read the query parameter `offset`; an invalid value means the first page."""
        given = request.args.get("offset", "")
        is_number = given.isascii() and given.isdigit() and len(given) <= len(str(MAX_OFFSET))
        return cls(min(int(given), MAX_OFFSET) if is_number else 0, limit)

    @property
    def query(self) -> JsonObject:
        """The query for one row more than a page has, which shows whether a next page exists."""
        return {"offset": self.offset, "limit": self.limit + 1}

    def visible(self, rows: Sequence[Listed]) -> Sequence[Listed]:
        return rows[: self.limit]

    def links(self, rows: Sequence[object]) -> PageLinks:
        before, after = self.offset - self.limit, self.offset + self.limit
        has_more = len(rows) > self.limit and after <= MAX_OFFSET
        return PageLinks(
            _url_at(max(before, 0)) if self.offset else None,
            _url_at(after) if has_more else None,
            self.offset + 1,
            self.offset + len(self.visible(rows)),
        )


def _url_at(offset: int) -> str:
    """Return the URL of this list at another offset, with the same filters."""
    query: MultiDict[str, str] = MultiDict(request.args)
    query["offset"] = str(offset)
    values = {**query.to_dict(flat=False), **(request.view_args or {})}
    return link_to(f".{(request.endpoint or '').rpartition('.')[2]}", **values)
