"""Pages of lists: the query parameters of a page and the headers that link to the next one."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote, urlencode

from flask import request

from ..types import JsonObject, Values

Listed = TypeVar("Listed")


def with_next_row(query: Values) -> JsonObject:
    """Return the query with one row more: it shows whether there is a next page."""
    return {**query, "limit": query["limit"] + 1}


def page_of(rows: Sequence[Listed], query: Values) -> tuple[Sequence[Listed], Mapping[str, str]]:
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


# Query parameters that a link to another page replaces.
_POSITIONS = ("offset", "after", "before")


class Slice(NamedTuple):
    """A page with a cursor: rows that are added or deleted do not shift the next page."""

    rows: Sequence[Any]
    # The cursor of the next page; None on the last page.
    after: str | None = None
    # The cursor of the previous page; None on the first page, and if the list has no such links.
    before: str | None = None
    # The number of all rows, if the page shows it.
    total: int | None = None

    def headers(self) -> Mapping[str, str]:
        headers = {}
        query = {name: value for name, value in _query().items() if name not in _POSITIONS}
        links = [
            _link_to({**query, name: cursor}, relation)
            for name, cursor, relation in (
                ("after", self.after, "next"),
                ("before", self.before, "prev"),
            )
            if cursor is not None
        ]
        if links:
            headers["Link"] = ", ".join(links)
        if self.total is not None:
            headers["X-Total-Count"] = str(self.total)
        return headers


def slice_of(
    rows: Sequence[Listed],
    limit: int,
    create_cursor: Callable[[Listed], str],
    *,
    is_first: bool,
    is_backward: bool,
    read_first: Callable[[], Slice],
    total: int | None = None,
) -> Slice:
    """Return a page of rows, which were read with one row more. With `is_backward`, they are the
    rows before a position, in reverse order; if these fill no page, the page of
    `read_first` is returned."""
    if is_backward and len(rows) < limit:
        # Rows were deleted, or are new: the first page is full.
        return read_first()
    has_more, shown = len(rows) > limit, rows[:limit]
    if not shown:
        return Slice(shown, total=total)
    if is_backward:
        shown = shown[::-1]
    has_previous = has_more if is_backward else not is_first
    return Slice(
        shown,
        after=create_cursor(shown[-1]) if is_backward or has_more else None,
        before=create_cursor(shown[0]) if has_previous else None,
        total=total,
    )


def _query() -> JsonObject:
    return request.args.to_dict(flat=False)


def _link_to(query: Values, relation: str = "next") -> str:
    """Return a `Link` with a path, because the request's Host header is not trusted."""
    return f'<{own_path()}?{urlencode(query, doseq=True)}>; rel="{relation}"'


def own_path() -> str:
    """Return the request's path as in the URL, including the path of the mount."""
    return quote(request.root_path + request.path, safe="/~!$&'()*+,;=:@")
