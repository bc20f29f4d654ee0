"""Concurrent requests to every route that writes: later requests get a problem document, never a
database error. New routes are included automatically.
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
from .test_access_matrix import make_olga

CONCURRENT = 6


class WriteRequest(NamedTuple):
    method: str
    path: str
    body: dict[str, Any]


def routes_that_write(app: Flask) -> Iterator[WriteRequest]:
    """Yield requests with the documented example as body, for existing objects."""
    urls = app.url_map.bind("localhost")
    for rule in api_rules(app):
        route_operation = find_operation(app.view_functions[rule.endpoint])
        values = dict.fromkeys(rule.arguments, 1) | {"workspace_slug": "secret"}
        known = {name: values[name] for name in rule.arguments}
        for method in sorted((rule.methods or set()) - {"GET", "HEAD", "OPTIONS"}):
            examples = route_operation.examples if route_operation else {}
            body = {
                name: examples[place]
                for place, name in (("json", "json"), ("form", "data"))
                if place in examples
            }
            yield WriteRequest(method, urls.build(rule.endpoint, known, method=method), body)


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(AUTH__RATE_LIMITS_ENABLED="false")


def test_concurrent_requests_cause_no_server_error(app: Flask, person: MakePerson) -> None:
    olga = make_olga(person)
    # Deletions come last, so that the other requests find the objects.
    write_requests = sorted(routes_that_write(app), key=lambda each: each.method == "DELETE")
    for each in write_requests:
        api = Api(app, "", token=olga.token())
        ask = request(api, each.method, each.path, **each.body)
        statuses = run_concurrently(*[ask] * CONCURRENT)
        assert statuses[-1] < 500, f"{each.method} {each.path}: {statuses}"
    assert len(write_requests) > 25
