"""Pages of others in a real browser, in which somebody is signed in by a cookie: none gets in, and
nothing is changed or read. Ours do what they are for."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from flask import Flask, Response, request
from playwright.sync_api import Browser, BrowserContext, expect
from sqlalchemy import text

from app import account_required, current_account
from app.auth.sessions.cookie_door import CookieDoor
from app.auth.sessions.cookies import CrossSiteCheck
from app.core.context import current_frontdesk
from app.extension.actions import REFUSALS

from ..conftest import MakeApp, Person
from ..core.test_matrix import rows
from ..rigs.cases import for_each
from ..rigs.chromium import launched
from ..rigs.cookie_browsers import NAME
from ..rigs.htmx import htmx
from ..rigs.shapes import BUY, SHAPES, WITH_COOKIE, Shape, fetching
from ..rigs.sites import DESK, EVIL, NEIGHBOUR, Seen, Watch, serving, strangers

pytestmark = pytest.mark.parametrize("backend", ["sqlite"], indirect=True)

OWN_PAGE = """<!doctype html><title>desk</title>
<script src="/htmx.js"></script>
<form method="post" action="/api/v1/buy"><button id="form">Form</button></form>
<button id="htmx" hx-put="/api/v1/buy" hx-target="#answer">htmx</button>
<button id="fetch" onclick="fetch('/api/v1/buy', {method: 'DELETE'})
  .then(a => a.text()).then(t => answer.textContent = t)">fetch</button>
<p id="answer"></p>
"""
OPEN_POLICY = {"Content-Security-Policy": "default-src 'self' 'unsafe-inline'"}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One that finds every name of a test on this machine."""
    with launched("--host-resolver-rules=MAP *.test 127.0.0.1") as browser:
        yield browser


@dataclass
class Street:
    """The desk, where somebody is signed in, and the houses of others around it."""

    app: Flask
    watch: Watch
    context: BrowserContext
    port: int
    # Of the others' pages, with TLS and without.
    others: int
    plain: int
    pages: dict[str, str]
    # Who bought something at the desk.
    bought: list[str]

    @property
    def desk(self) -> str:
        return f"https://{DESK}:{self.port}"

    def house(self, of: str) -> str:
        return {
            "evil": f"https://{EVIL}:{self.others}",
            "neighbour": f"https://{NEIGHBOUR}:{self.others}",
            "other port": f"https://{DESK}:{self.others}",
            "without tls": f"http://{DESK}:{self.plain}",
            "desk": self.desk,
        }[of]

    def forget(self) -> None:
        """What was bought and asked before."""
        self.bought.clear()
        self.watch.seen.clear()

    def visit(self, shape: Shape) -> list[Seen]:
        """Open the stranger's page, and see what comes of it at the desk."""
        house = self.house(shape.house)
        self.pages[shape.path] = shape.page(self.desk, house)
        page = self.context.new_page()
        try:
            page.goto(f"{house}/{shape.path}")
            if shape.clicked:
                page.click("button")
            if shape.tells:
                page.wait_for_function("document.title !== 'nothing'")
            seen = self.watch.of(shape.name)
            self.read = page.title()
        finally:
            page.close()
        return seen


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(AUTH__COOKIE_SESSIONS="on", CORE__CLIENT_HOST="https://app.site.test")


@pytest.fixture
def street(app: Flask, ada: Person, browser: Browser, tmp_path: Path) -> Iterator[Street]:
    bought: list[str] = []

    @app.route("/api/v1/buy", methods=["POST", "PUT", "PATCH", "DELETE"])
    @account_required
    def buy() -> str:
        bought.append(str(current_account.email))
        return "bought"

    @app.get("/page")
    @app.get("/htmx.js")
    def page() -> Response:
        script = request.path.endswith(".js")
        body, kind = (htmx(), "text/javascript") if script else (OWN_PAGE, "text/html")
        return Response(body, mimetype=kind, headers=OPEN_POLICY)

    watch, pages = Watch(app, NAME), dict[str, str]()
    others = strangers(pages)
    with (
        serving(watch, tmp_path) as port,
        serving(others, tmp_path) as other_port,
        serving(others) as plain_port,
    ):
        context = browser.new_context(ignore_https_errors=True)
        street = Street(app, watch, context, port, other_port, plain_port, pages, bought)
        sign_in(street, ada)
        street.forget()
        yield street
        context.close()


def sign_in(street: Street, somebody: Person) -> None:
    page = street.context.new_page()
    page.goto(f"{street.desk}/page")
    status = page.evaluate(
        """body => fetch("/api/v1/session", {
            method: "POST", headers: {"Content-Type": "application/json"},
            body: JSON.stringify(body)}).then(answer => answer.status)""",
        {"email": somebody.email, "password": somebody.password},
    )
    assert status == 200
    page.close()


def stored(app: Flask) -> dict[str, str]:
    """All that is, but for the records of what was refused."""
    tables = rows(app)
    with app.app_context():
        kinds = current_frontdesk.session.scalars(text("SELECT type FROM frontdesk_events")).all()
        current_frontdesk.session.rollback()
    refusals = {each.name for each in REFUSALS.values()}
    deeds = [kind for kind in kinds if kind not in refusals]
    return {**tables, "frontdesk_events": " ".join(sorted(deeds))}


def cookies(street: Street) -> list[str]:
    return [each["value"] for each in street.context.cookies(street.desk)]


@for_each("shape", SHAPES)
def test_no_page_of_others_gets_in(street: Street, shape: Shape) -> None:
    before, held = stored(street.app), cookies(street)
    seen = street.visit(shape)
    # It did come, and in the way in which such pages come.
    assert [(each.method, each.has_cookie, each.status) for each in seen] == shape.seen
    assert street.bought == []
    assert stored(street.app) == before
    assert cookies(street) == held
    assert "ada@example.com" not in street.read


@for_each("way", ["fetch", "htmx", "form"])
def test_a_page_of_ours_does_what_it_is_for(street: Street, way: str) -> None:
    street.forget()
    page = street.context.new_page()
    page.goto(f"{street.desk}/page")
    page.click(f"#{way}")
    expect(page.get_by_text("bought")).to_be_visible()
    assert street.bought == ["ada@example.com"]
    (asked,) = [each for each in street.watch.seen if each.path == "/api/v1/buy"]
    assert (asked.has_cookie, asked.site, asked.status) == (True, "same-origin", 200)
    page.close()


@for_each("house", ["neighbour", "other port"])
def test_a_neighbour_that_is_listed_is_one_of_ours(
    street: Street, house: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    street.forget()
    check = street.app.extensions["frontdesk"].get(CookieDoor).cross_site
    monkeypatch.setattr(check, "origins", frozenset({street.house(house)}))
    seen = street.visit(Shape("listed", house, fetching("POST", "no-cors"), []))
    assert [(each.method, each.has_cookie, each.status) for each in seen] == [("POST", True, 200)]
    assert street.bought == ["ada@example.com"]


def test_without_the_check_the_neighbours_would_get_in(
    street: Street, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that it is the check that keeps them out, and not the way in which they are tried."""
    monkeypatch.setattr(CrossSiteCheck, "check", lambda *_: None)
    let_in = [shape for shape in SHAPES if shape.seen == WITH_COOKIE and shape.to == BUY]
    for number, shape in enumerate(let_in, 1):
        street.visit(shape)
        assert len(street.bought) == number, shape.name
    assert len(let_in) >= 7


def test_a_program_with_the_cookie_says_which_page_it_is_or_is_refused(street: Street) -> None:
    """By hand over a socket, with no header but those that HTTP asks for."""
    (cookie,) = street.context.cookies(street.desk)
    tls = ssl.create_default_context()
    tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
    for more, status in (("", 403), ("Origin: null\r\n", 403), (f"Origin: {street.desk}\r\n", 200)):
        asked = (
            f"POST /api/v1/buy HTTP/1.1\r\nHost: {DESK}:{street.port}\r\n{more}"
            f"Cookie: {NAME}={cookie['value']}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        )
        with (
            socket.create_connection(("127.0.0.1", street.port), timeout=5) as line,
            tls.wrap_socket(line, server_hostname=DESK) as wrapped,
        ):
            wrapped.sendall(asked.encode())
            assert wrapped.recv(65536).startswith(f"HTTP/1.1 {status}".encode())
