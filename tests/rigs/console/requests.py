"""Requests to the console's routes as browsers send them, without a browser."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import unescape
from typing import Any

import pytest
from flask import Flask
from marshmallow import Schema
from sqlalchemy import delete, func, select
from werkzeug.routing import Rule
from werkzeug.test import TestResponse

from app.console import api_calls
from app.core.context import current_frontdesk
from app.core.web.blueprint import loaded
from app.core.web.operation import View, operation

from ..cookie_browsers import HOST, NAME, SAME_ORIGIN
from ..sending import send
from .routes import Route
from .world import World, values_of


def plain_html(html: str) -> str:
    """Return HTML without entities and without the places where addresses break."""
    return unescape(html.replace("<wbr>", ""))


def ask(
    app: Flask,
    method: str,
    path: str,
    cookie: str | None = None,
    headers: Mapping[str, str] = SAME_ORIGIN,
    **request: Any,
) -> TestResponse:
    cookies = {} if cookie is None else {"Cookie": f"{NAME}={cookie}"}
    headers = {**cookies, **headers}
    return send(app, path, method=method, base_url=HOST, headers=headers, **request)


def check_pages(
    read: Callable[[str], str], path: str, delete_first: Callable[[], object] | None = None
) -> None:
    """Check that links to the next and previous page lead through three pages or more and back.

    After a row of the first page was deleted, the link from the second page leads to the full
    first page.
    """
    paths, forward = _walk(read, path, "next")
    paths_back, back = _walk(read, paths[-1], "prev")
    assert len(forward) >= 3
    assert back == forward[::-1]
    if delete_first is not None:
        delete_first()
        [first, *_] = _walk(read, path, "next")[1]
        assert first != forward[0]
        assert _walk(read, paths_back[-1], "prev")[1] == [first]


def _walk(read: Callable[[str], str], path: str, relation: str) -> tuple[list[str], list[str]]:
    """Return the paths of the pages that the links with a relation lead to, and their lists."""
    paths, lists, further = [], [], [path]
    while further:
        paths += further
        main = unescape(read(further[0])).rpartition("<main")[2]
        found, _, pager = main.partition('<nav class="pager"')
        lists.append(found)
        further = re.findall(f'href="([^"]*)"[^>]*rel="{relation}"', pager)
    return paths, lists


def delete_newest(world: World, model: Any, *conditions: Any) -> None:
    with world.site.app.app_context():
        session = current_frontdesk.session
        newest = session.scalar(select(func.max(model.id)).where(*conditions))
        session.execute(delete(model).where(model.id == newest))
        session.commit()


def path_of(world: World, route: Route) -> str:
    rule = next(world.site.app.url_map.iter_rules(route.endpoint))
    urls = world.site.app.url_map.bind("localhost")
    return urls.build(route.endpoint, values_of(world, rule.arguments), method=route.method)


def api_rule(app: Flask, view: View) -> Rule:
    """Return the API's route of this view, with the fewest variables if mounted repeatedly."""
    views = app.view_functions
    found = [rule for rule in app.url_map.iter_rules() if loaded(views[rule.endpoint]) is view]
    assert found, f"no route of the API has the view {view.__name__}"
    return min(found, key=lambda rule: len(rule.arguments))


def example_form(view: View) -> dict[str, Any]:
    """Return the documented example of the API's route as form fields."""
    examples = operation(view).examples
    found = examples.get("form") or examples.get("json") or {}
    # The examples of routes with several kinds of proof may lack a credential.
    return {"credential": "{}", **dict(_fields(found, ""))}


def _fields(found: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for name, value in found.items():
        if isinstance(value, Mapping):
            yield from _fields(value, f"{prefix}{name}.")
            # Scripts send a passkey's credential as JSON.
            yield f"{prefix}{name}", json.dumps(value)
        elif isinstance(value, bool):
            yield f"{prefix}{name}", str(value).lower()
        elif value is not None:
            yield f"{prefix}{name}", [*map(str, value)] if isinstance(value, list) else str(value)


@dataclass
class ApiCall:
    """The call of an API route by a form."""

    view: View
    path: Mapping[str, Any]
    read: dict[str, Any] = field(default_factory=dict)


@contextmanager
def record_api_calls() -> Iterator[list[ApiCall]]:
    recorded: list[ApiCall] = []
    call = api_calls._call

    def record(view: View, present: Any, path: Mapping[str, Any]) -> Any:
        recorded.append(api_call := ApiCall(view, dict(path)))

        def present_and_record(place: str, schema: Schema) -> Any:
            api_call.read[place] = found = present(place, schema)
            return found

        return call(view, present_and_record, path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(api_calls, "_call", record)
        yield recorded
