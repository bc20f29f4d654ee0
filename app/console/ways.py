"""Links and redirects between pages, the notice a redirect carries, and pages of a list."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import orjson
from flask import Response, request, url_for
from werkzeug.datastructures import MultiDict

from ..auth.sessions.cookies import own_origin
from ..core.context import current_frontdesk
from ..core.keystore import KeystoreUnavailable
from ..core.types import JsonObject, Values
from ..core.web.paging import own_path
from .cookies import cookie_name, delete_cookie, read_cookie, set_cookie

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
    **values: object,
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
    # The host that was asked counts too, because only the path is used: no redirect leads there.
    ours = (request.host, urlsplit(own_origin(request)).netloc)
    if parts.netloc and parts.netloc.lower() not in ours:
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


NAME = "fd-said"
SECONDS = 60
_KEY = re.compile(r"[\w-]{43}", re.ASCII)


class Undo(NamedTuple):
    """A form that takes back what was done."""

    url: str
    fields: Values


class Notice(NamedTuple):
    text: str
    kind: str = "success"
    undo: Undo | None = None


def say(response: Response, text: str, kind: str = "success", undo: Undo | None = None) -> Response:
    """Set the notice for the next page. The cookie holds a random key alone, because the text may
    name an email address."""
    key = secrets.token_urlsafe()
    value = orjson.dumps([str(text), kind, undo and list(undo)]).decode()
    try:
        current_frontdesk.keystore.put(f"notice:{key}", value, SECONDS)
    except KeystoreUnavailable:
        # The form has done its work: the next page then shows no notice.
        return response
    set_cookie(response, NAME, key, SECONDS)
    return response


def notice() -> Notice | None:
    """For the layout, which shows it; the answer then takes the cookie away."""
    key = read_cookie(NAME) or ""
    if not _KEY.fullmatch(key):
        return None
    try:
        value = current_frontdesk.keystore.get(f"notice:{key}")
    except KeystoreUnavailable:
        return None
    if value is None:
        return None
    text, kind, undo = orjson.loads(value)
    return Notice(text, kind, Undo(*undo) if undo else None)


def take_notice(response: Response) -> Response:
    if cookie_name(NAME) in request.cookies:
        delete_cookie(response, NAME)
    return response


# Further on a page would cost what all before it cost; searching leads there.
MOST_OFFSET = 10_000


class Ways(NamedTuple):
    """To the pages beside this one, and which rows it shows; None where there is no such page."""

    newer: str | None
    older: str | None
    first: int
    last: int


class Paging(NamedTuple):
    offset: int
    limit: int

    @classmethod
    def asked(cls, limit: int) -> Paging:
        """By the address of the page; whoever has written that by hand begins in front."""
        given = request.args.get("offset", "")
        is_number = given.isascii() and given.isdigit() and len(given) <= len(str(MOST_OFFSET))
        return cls(min(int(given), MOST_OFFSET) if is_number else 0, limit)

    @property
    def query(self) -> JsonObject:
        """One row more than is shown tells whether there is another page."""
        return {"offset": self.offset, "limit": self.limit + 1}

    def shown(self, rows: Sequence[Any]) -> Sequence[Any]:
        return rows[: self.limit]

    def ways(self, rows: Sequence[Any]) -> Ways:
        before, after = self.offset - self.limit, self.offset + self.limit
        has_more = len(rows) > self.limit and after <= MOST_OFFSET
        return Ways(
            _at(max(before, 0)) if self.offset else None,
            _at(after) if has_more else None,
            self.offset + 1,
            self.offset + len(self.shown(rows)),
        )


def _at(offset: int) -> str:
    """The same page otherwise: what was searched for goes along."""
    asked: MultiDict[str, str] = MultiDict(request.args)
    asked["offset"] = str(offset)
    values = {**asked.to_dict(flat=False), **(request.view_args or {})}
    return to(f".{(request.endpoint or '').rpartition('.')[2]}", **values)
