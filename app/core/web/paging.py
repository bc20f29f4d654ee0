"""Pages of lists: what a client asks for, and what it is told of the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode

from flask import request


def one_more(query: Mapping[str, Any]) -> dict[str, Any]:
    """One row beyond the page tells without a second query whether there is a next one."""
    return {**query, "limit": query["limit"] + 1}


def page_of(
    rows: Sequence[Any], query: Mapping[str, Any]
) -> tuple[Sequence[Any], Mapping[str, str]]:
    """The page, and the headers that tell of the rest.

    A total is told where the page itself shows it, which is on the last one: counting the rows of
    a long list would cost more than the page.
    """
    offset, limit = query["offset"], query["limit"]
    if len(rows) > limit:
        return rows[:limit], {"Link": f'<{_address(offset + limit, limit)}>; rel="next"'}
    if rows or not offset:
        return rows, {"X-Total-Count": str(offset + len(rows))}
    return rows, {}


def _address(offset: int, limit: int) -> str:
    """A path, since the host that a request names is not to be believed."""
    asked = {**request.args.to_dict(flat=False), "offset": offset, "limit": limit}
    return f"{own_path()}?{urlencode(asked, doseq=True)}"


def own_path() -> str:
    """The request's own path as a client writes it, with all that stands in front of the mount."""
    return quote(request.root_path + request.path, safe="/~!$&'()*+,;=:@")
