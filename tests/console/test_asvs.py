"""The requirements in docs/asvs.md for the console's pages."""

from __future__ import annotations

import re

import pytest

from app.testing.clock import SteppingClock

from ..conftest import MakeApp, Person, only_on
from ..rigs.console.requests import ask, path_of
from ..rigs.console.routes import page_routes
from ..rigs.console.world import World

pytestmark = only_on("sqlite")
INPUT = re.compile(r"<input\b[^>]*>")
# Pages without navigation: re-authentication, and the page for developers.
WITHOUT_NAVIGATION = {"/confirm", "/design"}


@pytest.fixture
def pages(world: World) -> dict[str, str]:
    """Return the pages that root sees, by path."""
    cookie = world.site.cookie_of(world.people["root"])
    found = {}
    for route in page_routes():
        answer = ask(world.site.app, "GET", path_of(world, route), cookie)
        if answer.status_code == 200 and "<body" in answer.text:
            found[route.path] = answer.text
    assert len(found) > 30
    return found


def test_password_fields_are_masked_and_take_password_managers(pages: dict[str, str]) -> None:
    fields = [
        (path, field)
        for path, text in pages.items()
        if path != "/design"
        for field in INPUT.findall(text)
        if re.search(r'\bname="[^"]*password', field)
    ]
    assert fields
    for path, field in fields:
        if 'type="hidden"' not in field:
            assert 'type="password"' in field, path
            assert re.search(r'autocomplete="(current|new)-password"', field), path
    assert not [path for path, text in pages.items() if "onpaste" in text]


def test_every_page_of_an_account_has_a_sign_out_button(
    pages: dict[str, str], world: World
) -> None:
    visitors = {
        route.path
        for route in page_routes()
        if ask(world.site.app, "GET", path_of(world, route)).status_code == 200
    }
    own = {path: text for path, text in pages.items() if path not in visitors}
    missing = {path for path, text in own.items() if 'action="/sign-out"' not in text}
    assert missing <= WITHOUT_NAVIGATION


def test_passwords_do_not_expire(ada: Person, clock: SteppingClock) -> None:
    clock.step(days=3650)
    assert ada.api().get("/account").json["email"] == ada.email


def test_production_has_no_pages_for_development(make_app: MakeApp) -> None:
    app = make_app()
    app.testing = False
    client = app.test_client()
    for path in ("/design", "/outbox", "/outbox/any.eml", "/outbox/any.eml/html"):
        assert client.get(path, base_url="https://localhost").status_code == 404, path
