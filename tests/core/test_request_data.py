"""The query parameters that a view receives."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from app.core.errors import Invalid
from app.core.web.fields import Page
from app.core.web.request_data import takes


@takes(query=Page)
def view(**given: Any) -> Any:
    given["query"]["offset"] += 1
    return given["query"]


def responses_to(*queries: str) -> list[dict[str, Any]]:
    found = []
    for query in queries:
        with Flask("host").test_request_context(f"/?{query}"):
            found.append(view())
    return found


def test_query_changed_by_a_view_affects_no_later_request() -> None:
    pages = responses_to("limit=7", "limit=8", "limit=7")
    assert [(page["limit"], page["offset"]) for page in pages] == [(7, 1), (8, 1), (7, 1)]


@pytest.mark.parametrize("query", ["limit=none", "limit=1&limit=2"])
def test_rejected_query_is_rejected_again(query: str) -> None:
    for _ in range(2):
        with pytest.raises(Invalid):
            responses_to(query)
