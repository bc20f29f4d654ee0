"""Pages and forms respond to malformed input with a page and never with a 5xx status."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import Any
from urllib.parse import quote_from_bytes

import pytest
from werkzeug.test import TestResponse

from app.testing.database import rolled_back

from ..core.test_malformed_requests import MALFORMED_TEXT, known_names
from ..rigs.console.faults import as_lines
from ..rigs.console.requests import ask, path_of
from ..rigs.console.routes import Route, form_routes, page_routes
from ..rigs.console.world import World
from .pages import NO_PAGES

FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data; boundary=x"
PART = b"--x\r\nContent-Disposition: form-data"
BODIES: list[tuple[bytes, str]] = [
    (b"", FORM),
    (b"", ""),
    (b"\xff\xfe\x00", FORM),
    (b"a=%ff&a=%00&" * 1500, FORM),
    (b"&".join(b"a%d=1" % number for number in range(3000)), FORM),
    (b'{"email": "a"}', "application/json"),
    (b"[" * 5000, "application/json"),
    (PART + b"; name=avatar; filename=a\r\n\r\nGIF", MULTIPART),
    (PART + b"\r\n\r\n", MULTIPART),
    (b"x", "multipart/form-data"),
    (b"a=1", "\xff; charset=utf-16"),
]
TURNS = range(0, len(MALFORMED_TEXT), 4)
# Larger than the maximum body size.
HUGE = b"title=" + b"x" * 3_000_000


def cookies_of(world: World) -> list[str | None]:
    return [None, world.site.cookie_of(world.people["root"])]


def wrong(route: Route, answer: TestResponse) -> list[str]:
    """Return errors of the response; only passkey options may be JSON."""
    if answer.status_code >= 500:
        return [f"{route.method} {route.path}: {answer.status_code}"]
    kinds = ["text/html", *(["application/json"] if "_options" in route.name else [])]
    if answer.status_code not in (204, 303, 304) and answer.mimetype not in kinds:
        return [f"{route.method} {route.path}: {answer.status_code} {answer.mimetype}"]
    return []


Asked = list[tuple[Route, str]]


def with_paths(world: World, routes: Iterable[Route]) -> Asked:
    """Return the routes with their paths; they stay valid, because each request is rolled back."""
    return [(route, path_of(world, route)) for route in routes]


def send(world: World, asked: tuple[Route, str], cookie: str | None, **request: Any) -> list[str]:
    app, (route, path) = world.site.app, asked
    with rolled_back(app):
        return wrong(route, ask(app, route.method, path, cookie, **request))


def mixed(names: list[str], turn: int) -> bytes:
    """Return different texts for each field and each round, including lone surrogates."""
    values = (MALFORMED_TEXT[(at + turn) % len(MALFORMED_TEXT)] for at in count())
    encoded = (quote_from_bytes(value.encode(errors="surrogatepass")) for value in values)
    return "&".join(f"{name}={value}" for name, value in zip(names, encoded, strict=False)).encode()


def alike(names: list[str], text: str) -> bytes:
    return "&".join(f"{name}={quote_from_bytes(text.encode())}" for name in names).encode()


@pytest.fixture
def names(world: World) -> list[str]:
    found = known_names(world.site.app)
    return sorted({*found, *(f"data.{name}" for name in found), "next", "page", "q"})


def test_forms_respond_to_malformed_bodies(world: World) -> None:
    forms = with_paths(world, form_routes())
    found = [
        fault
        for cookie in cookies_of(world)
        for form in forms
        for data, kind in BODIES
        for fault in send(world, form, cookie, data=data, content_type=kind)
    ]
    assert not found, as_lines(found)


def test_forms_respond_to_malicious_text_in_every_field(world: World, names: list[str]) -> None:
    cookie = world.site.cookie_of(world.people["root"])
    bodies = [mixed(names, turn) for turn in TURNS] + [alike(names, text) for text in ("\0", "1")]
    forms = with_paths(world, form_routes())
    found = [
        fault
        for form in forms
        for body in (*bodies, HUGE)
        for fault in send(world, form, cookie, data=body, content_type=FORM)
    ]
    assert not found, as_lines(found)


def test_pages_respond_to_malformed_queries(world: World, names: list[str]) -> None:
    queries = [mixed(names, turn).decode() for turn in TURNS]
    queries += [alike(names, text).decode() for text in ("\0", "1", "-1", "9" * 30)]
    pages = with_paths(world, (page for page in page_routes() if page.name not in NO_PAGES))
    found = [
        fault
        for cookie in cookies_of(world)
        for page in pages
        for query in (*queries, "%", "a=%ff&=&&")
        for fault in send(world, page, cookie, query_string=query)
    ]
    assert not found, as_lines(found)
