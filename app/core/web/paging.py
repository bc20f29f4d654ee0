"""Pages of lists: the query parameters of a page and the headers that link to the next one."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from flask import request

from ..types import JsonObject, Values


def with_next_row(query: Values) -> JsonObject:
    """Return the query with one row more: it shows whether there is a next page."""
    return {**query, "limit": query["limit"] + 1}


def page_of(rows: Sequence[Any], query: Values) -> tuple[Sequence[Any], Mapping[str, str]]:
    """Return the page and the headers that link to the next one.

    Only the last page has the total, which follows from its offset: counting the rows of a long
    list would take longer than the page.
    """
    offset, limit = query["offset"], query["limit"]
    if len(rows) > limit:
        next_query = {**_query(), "offset": offset + limit, "limit": limit}
        return rows[:limit], {"Link": _link_to(next_query)}
    if rows or not offset:
        return rows, {"X-Total-Count": str(offset + len(rows))}
    return rows, {}


class Slice(NamedTuple):
    """A page with a cursor: rows that are added or deleted do not shift the next page."""

    rows: Sequence[Any]
    # The cursor of the next page; None on the last page.
    after: str | None = None
    # The number of all rows, if the page shows it.
    total: int | None = None

    def headers(self) -> Mapping[str, str]:
        headers = {}
        if self.after is not None:
            query = {name: value for name, value in _query().items() if name != "offset"}
            headers["Link"] = _link_to({**query, "after": self.after})
        if self.total is not None:
            headers["X-Total-Count"] = str(self.total)
        return headers


def _query() -> JsonObject:
    return request.args.to_dict(flat=False)


def _link_to(query: Values) -> str:
    """Return a `Link` with a path, because the request's Host header is not trusted."""
    return f'<{own_path()}?{urlencode(query, doseq=True)}>; rel="next"'


def own_path() -> str:
    """Return the request's path as in the URL, including the path of the mount."""
    return quote(request.root_path + request.path, safe="/~!$&'()*+,;=:@")
