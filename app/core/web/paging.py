"""Pages of lists: the query parameters of a page and the headers that link to the next one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from flask import request

from ..types import JsonObject, Values


def one_more(query: Values) -> JsonObject:
    """Request one row more than the page: it shows without a second query whether a next page
    exists."""
    return {**query, "limit": query["limit"] + 1}


def page_of(rows: Sequence[Any], query: Values) -> tuple[Sequence[Any], Mapping[str, str]]:
    """Return the page and the headers that link to the next one.

    A total is told where the page itself shows it, which is on the last one: counting the rows of
    a long list would cost more than the page.
    """
    offset, limit = query["offset"], query["limit"]
    if len(rows) > limit:
        further = {**_asked(), "offset": offset + limit, "limit": limit}
        return rows[:limit], {"Link": _next(further)}
    if rows or not offset:
        return rows, {"X-Total-Count": str(offset + len(rows))}
    return rows, {}


class Slice(NamedTuple):
    """A page that ends at a place in the list: what is added or deleted meanwhile moves nothing
    from one page to the next."""

    rows: Sequence[Any]
    # Where the next one begins; None on the last.
    after: str | None = None
    # Where the page itself shows it.
    total: int | None = None

    def headers(self) -> Mapping[str, str]:
        headers = {}
        if self.after is not None:
            asked = {name: value for name, value in _asked().items() if name != "offset"}
            headers["Link"] = _next({**asked, "after": self.after})
        if self.total is not None:
            headers["X-Total-Count"] = str(self.total)
        return headers


def _asked() -> JsonObject:
    return request.args.to_dict(flat=False)


def _next(asked: Values) -> str:
    """A path, since the host that a request names is not to be believed."""
    return f'<{own_path()}?{urlencode(asked, doseq=True)}>; rel="next"'


def own_path() -> str:
    """The request's own path as a client writes it, with all that stands in front of the mount."""
    return quote(request.root_path + request.path, safe="/~!$&'()*+,;=:@")
