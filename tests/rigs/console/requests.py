"""The console's routes asked without a browser, as a browser would ask."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from flask import Flask
from marshmallow import Schema
from werkzeug.routing import Rule
from werkzeug.test import TestResponse

from app.console import api_calls
from app.core.web.operation import View, operation

from ..cookie_browsers import HOST, NAME, SAME_ORIGIN
from ..sending import send
from .routes import Route
from .world import World, values_of


def ask(
    app: Flask,
    method: str,
    path: str,
    cookie: str | None = None,
    headers: Mapping[str, str] = SAME_ORIGIN,
    **request: Any,
) -> TestResponse:
    held = {} if cookie is None else {"Cookie": f"{NAME}={cookie}"}
    headers = {**held, **headers}
    return send(app, path, method=method, base_url=HOST, headers=headers, **request)


def path_of(world: World, route: Route) -> str:
    rule = next(world.site.app.url_map.iter_rules(route.endpoint))
    urls = world.site.app.url_map.bind("localhost")
    return urls.build(route.endpoint, values_of(world, rule.arguments), method=route.method)


def api_rule(app: Flask, view: View) -> Rule:
    """The API's route with this view; where it is mounted more than once, the plainest."""
    found = [rule for rule in app.url_map.iter_rules() if app.view_functions[rule.endpoint] is view]
    assert found, f"no route of the API has the view {view.__name__}"
    return min(found, key=lambda rule: len(rule.arguments))


def example_form(view: View) -> dict[str, Any]:
    """The example of the API's route, as a form would send it."""
    examples = operation(view).examples
    found = examples.get("form") or examples.get("json") or {}
    # Routes that take several kinds of proof show another one in their example.
    return {"credential": "{}", **dict(_fields(found, ""))}


def _fields(found: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for name, value in found.items():
        if isinstance(value, Mapping):
            yield from _fields(value, f"{prefix}{name}.")
            # As a script writes what a browser has made of a passkey.
            yield f"{prefix}{name}", json.dumps(value)
        elif isinstance(value, bool):
            yield f"{prefix}{name}", str(value).lower()
        elif value is not None:
            yield f"{prefix}{name}", [*map(str, value)] if isinstance(value, list) else str(value)


@dataclass
class Performed:
    """What a form had a route of the API do."""

    view: View
    path: Mapping[str, Any]
    read: dict[str, Any] = field(default_factory=dict)


@contextmanager
def noted_performances() -> Iterator[list[Performed]]:
    noted: list[Performed] = []
    call = api_calls._call

    def note(view: View, present: Any, path: Mapping[str, Any]) -> Any:
        noted.append(performed := Performed(view, dict(path)))

        def present_and_note(place: str, schema: Schema) -> Any:
            performed.read[place] = found = present(place, schema)
            return found

        return call(view, present_and_note, path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(api_calls, "_call", note)
        yield noted
