"""A query that is loaded alike each time is loaded once; what a view does to it stays with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from flask import Flask
from marshmallow import post_load

from app.core.errors import Invalid
from app.core.web.fields import Page
from app.core.web.request_data import takes


class AlikePage(Page):
    readings = 0

    class Meta(Page.Meta):
        reads_alike = True

    @post_load
    def count(self, data: Any, **_: Any) -> Any:
        type(self).readings += 1
        return data


class DerivedPage(AlikePage):
    """It does not say so itself."""

    readings = 0


def asked(app: Flask, view: Any, *queries: str) -> list[Mapping[str, Any]]:
    found = []
    for query in queries:
        with app.test_request_context(f"/?{query}"):
            found.append(view())
    return found


@pytest.mark.parametrize(("schema", "readings"), [(AlikePage, 2), (DerivedPage, 3)])
def test_the_same_query_is_the_same_page(schema: type[AlikePage], readings: int) -> None:
    @takes(query=schema)
    def view(query: dict[str, Any]) -> dict[str, Any]:
        query["offset"] += 1
        return query

    schema.readings = 0
    pages = asked(Flask("host"), view, "limit=7", "limit=8", "limit=7")
    assert [(page["limit"], page["offset"]) for page in pages] == [(7, 1), (8, 1), (7, 1)]
    assert schema.readings == readings


def test_a_query_that_is_refused_is_refused_again() -> None:
    @takes(query=AlikePage)
    def view(query: dict[str, Any]) -> dict[str, Any]:
        return query

    for _ in range(2):
        with pytest.raises(Invalid):
            asked(Flask("host"), view, "limit=none")
        with pytest.raises(Invalid):
            asked(Flask("host"), view, "limit=1&limit=2")
