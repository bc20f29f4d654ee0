"""Every route that writes, asked many times at the same moment: whoever comes second is told so in
our words, and never by an error of the database's. A route that comes later is in by being mounted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from flask import Flask

from app.core.web.operation import find_operation
from app.testing.client import Api

from ..conftest import MakeApp, MakePerson
from ..rigs.racing import request, run_concurrently
from ..rigs.routes import api_rules
from .test_matrix import make_olga

AT_ONCE = 6


class Writing(NamedTuple):
    method: str
    path: str
    body: dict[str, Any]


def routes_that_write(app: Flask) -> Iterator[Writing]:
    """With the body of the document's own example, about what is there."""
    urls = app.url_map.bind("localhost")
    for rule in api_rules(app):
        described = find_operation(app.view_functions[rule.endpoint])
        values = dict.fromkeys(rule.arguments, 1) | {"workspace_slug": "secret"}
        known = {name: values[name] for name in rule.arguments}
        for method in sorted((rule.methods or set()) - {"GET", "HEAD", "OPTIONS"}):
            examples = described.examples if described else {}
            body = {
                name: examples[place]
                for place, name in (("json", "json"), ("form", "data"))
                if place in examples
            }
            yield Writing(method, urls.build(rule.endpoint, known, method=method), body)


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(AUTH__RATE_LIMITS_ENABLED="false")


def test_no_route_is_broken_by_many_who_come_at_once(app: Flask, person: MakePerson) -> None:
    olga = make_olga(person)
    # What ends comes last: others would find nothing any more.
    writing = sorted(routes_that_write(app), key=lambda each: each.method == "DELETE")
    for each in writing:
        api = Api(app, "", token=olga.token())
        ask = request(api, each.method, each.path, **each.body)
        statuses = run_concurrently(*[ask] * AT_ONCE)
        assert statuses[-1] < 500, f"{each.method} {each.path}: {statuses}"
    assert len(writing) > 25
