"""Cross-site requests from real browser pages, while the browser holds a session cookie: pages
of other sites can neither change nor read anything, and the service's own pages work."""

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
from app.auth.sessions.cookie_sessions import CookieSessions
from app.auth.sessions.cookies import CrossSiteCheck
from app.core.context import current_frontdesk
from app.extension.actions import REJECTIONS

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
    """Launch a browser that resolves every `.test` name to this machine."""
    with launched("--host-resolver-rules=MAP *.test 127.0.0.1") as browser:
        yield browser


@dataclass
class Sites:
    """The service, where the user is signed in, and the sites of other origins."""

    app: Flask
    watch: Watch
    context: BrowserContext
    port: int
    # Ports of the other sites, with TLS and without.
    others: int
    plain: int
    pages: dict[str, str]
    # Email addresses of accounts with requests that reached the view.
    bought: list[str]

    @property
    def service(self) -> str:
        return f"https://{DESK}:{self.port}"

    def origin_of(self, of: str) -> str:
        return {
            "evil": f"https://{EVIL}:{self.others}",
            "neighbour": f"https://{NEIGHBOUR}:{self.others}",
            "other port": f"https://{DESK}:{self.others}",
            "without tls": f"http://{DESK}:{self.plain}",
            "desk": self.service,
        }[of]

    def forget(self) -> None:
        """Clear the requests that the service received so far."""
        self.bought.clear()
        self.watch.seen.clear()

    def visit(self, shape: Shape) -> list[Seen]:
        """Open a page of another site and return the requests that the service received."""
        origin = self.origin_of(shape.house)
        self.pages[shape.path] = shape.page(self.service, origin)
        page = self.context.new_page()
        try:
            page.goto(f"{origin}/{shape.path}")
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
def sites(app: Flask, ada: Person, browser: Browser, tmp_path: Path) -> Iterator[Sites]:
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
        sites = Sites(app, watch, context, port, other_port, plain_port, pages, bought)
        sign_in(sites, ada)
        sites.forget()
        yield sites
        context.close()


def sign_in(sites: Sites, person: Person) -> None:
    page = sites.context.new_page()
    page.goto(f"{sites.service}/page")
    status = page.evaluate(
        """body => fetch("/api/v1/session", {
            method: "POST", headers: {"Content-Type": "application/json"},
            body: JSON.stringify(body)}).then(answer => answer.status)""",
        {"email": person.email, "password": person.password},
    )
    assert status == 200
    page.close()


def stored_rows(app: Flask) -> dict[str, str]:
    """Return all rows, except audit log entries of rejected requests."""
    tables = rows(app)
    with app.app_context():
        kinds = current_frontdesk.session.scalars(text("SELECT type FROM frontdesk_events")).all()
        current_frontdesk.session.rollback()
    refusals = {each.name for each in REJECTIONS.values()}
    changes = [kind for kind in kinds if kind not in refusals]
    return {**tables, "frontdesk_events": " ".join(sorted(changes))}


def cookies(sites: Sites) -> list[str]:
    return [each["value"] for each in sites.context.cookies(sites.service)]


@for_each("shape", SHAPES)
def test_pages_of_other_sites_change_nothing(sites: Sites, shape: Shape) -> None:
    before, old_cookies = stored_rows(sites.app), cookies(sites)
    seen = sites.visit(shape)
    # The request arrived, with the method and cookie that such a page sends.
    assert [(each.method, each.has_cookie, each.status) for each in seen] == shape.seen
    assert sites.bought == []
    assert stored_rows(sites.app) == before
    assert cookies(sites) == old_cookies
    assert "ada@example.com" not in sites.read


@for_each("control", ["fetch", "htmx", "form"])
def test_own_pages_work(sites: Sites, control: str) -> None:
    sites.forget()
    page = sites.context.new_page()
    page.goto(f"{sites.service}/page")
    page.click(f"#{control}")
    expect(page.get_by_text("bought")).to_be_visible()
    assert sites.bought == ["ada@example.com"]
    (request_seen,) = [each for each in sites.watch.seen if each.path == "/api/v1/buy"]
    assert (request_seen.has_cookie, request_seen.site, request_seen.status) == (
        True,
        "same-origin",
        200,
    )
    page.close()


@for_each("site", ["neighbour", "other port"])
def test_allowed_origin_is_accepted(
    sites: Sites, site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sites.forget()
    check = sites.app.extensions["frontdesk"].get(CookieSessions).cross_site
    monkeypatch.setattr(check, "origins", frozenset({sites.origin_of(site)}))
    seen = sites.visit(Shape("allowed", site, fetching("POST", "no-cors"), []))
    assert [(each.method, each.has_cookie, each.status) for each in seen] == [("POST", True, 200)]
    assert sites.bought == ["ada@example.com"]


def test_without_the_check_sibling_sites_succeed(
    sites: Sites, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Proves that the check rejects the requests, and not how the tests send them."""
    monkeypatch.setattr(CrossSiteCheck, "check", lambda *_: None)
    accepted = [shape for shape in SHAPES if shape.seen == WITH_COOKIE and shape.to == BUY]
    for number, shape in enumerate(accepted, 1):
        sites.visit(shape)
        assert len(sites.bought) == number, shape.name
    assert len(accepted) >= 7


def test_request_with_the_cookie_needs_an_own_origin(sites: Sites) -> None:
    """Send requests over a socket, with only the headers that HTTP requires."""
    (cookie,) = sites.context.cookies(sites.service)
    tls = ssl.create_default_context()
    tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
    for more, status in (
        ("", 403),
        ("Origin: null\r\n", 403),
        (f"Origin: {sites.service}\r\n", 200),
    ):
        request_seen = (
            f"POST /api/v1/buy HTTP/1.1\r\nHost: {DESK}:{sites.port}\r\n{more}"
            f"Cookie: {NAME}={cookie['value']}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        )
        with (
            socket.create_connection(("127.0.0.1", sites.port), timeout=5) as raw,
            tls.wrap_socket(raw, server_hostname=DESK) as wrapped,
        ):
            wrapped.sendall(request_seen.encode())
            assert wrapped.recv(65536).startswith(f"HTTP/1.1 {status}".encode())
