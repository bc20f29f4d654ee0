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
from app.auth.cross_site import CrossSiteCheck
from app.auth.sessions.cookie_sessions import CookieSessions
from app.core.context import current_frontdesk
from app.extension.actions import REJECTIONS

from ..conftest import MakeApp, Person
from ..core.test_access_matrix import rows
from ..rigs.cases import for_each
from ..rigs.chromium import launch_chromium
from ..rigs.cookie_browsers import NAME
from ..rigs.cross_site_requests import BUY, REQUESTS, WITH_COOKIE, CrossSiteRequest, fetch_script
from ..rigs.htmx import htmx
from ..rigs.web_sites import (
    DESK,
    EVIL,
    NEIGHBOUR,
    ReceivedRequest,
    RequestRecorder,
    attacker_site,
    serve_site,
)

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
    with launch_chromium("--host-resolver-rules=MAP *.test 127.0.0.1") as browser:
        yield browser


@dataclass
class Sites:
    """The service, where the user is signed in, and the sites of other origins."""

    app: Flask
    recorder: RequestRecorder
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
        self.recorder.received.clear()

    def visit(self, sent: CrossSiteRequest) -> list[ReceivedRequest]:
        """Open a page of another site and return the requests that the service received."""
        origin = self.origin_of(sent.site)
        self.pages[sent.path] = sent.page(self.service, origin)
        page = self.context.new_page()
        try:
            page.goto(f"{origin}/{sent.path}")
            if sent.clicked:
                page.click("button")
            if sent.shows_result:
                page.wait_for_function("document.title !== 'nothing'")
            received = self.recorder.wait_for(sent.name)
            self.read = page.title()
        finally:
            page.close()
        return received


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

    recorder, pages = RequestRecorder(app, NAME), dict[str, str]()
    others = attacker_site(pages)
    with (
        serve_site(recorder, tmp_path) as port,
        serve_site(others, tmp_path) as other_port,
        serve_site(others) as plain_port,
    ):
        context = browser.new_context(ignore_https_errors=True)
        sites = Sites(app, recorder, context, port, other_port, plain_port, pages, bought)
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


@for_each("sent", REQUESTS)
def test_pages_of_other_sites_change_nothing(sites: Sites, sent: CrossSiteRequest) -> None:
    before, old_cookies = stored_rows(sites.app), cookies(sites)
    received = sites.visit(sent)
    # The request arrived, with the method and cookie that such a page sends.
    assert [(each.method, each.has_cookie, each.status) for each in received] == sent.received
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
    (received,) = [each for each in sites.recorder.received if each.path == "/api/v1/buy"]
    assert (received.has_cookie, received.site, received.status) == (True, "same-origin", 200)
    page.close()


@for_each("site", ["neighbour", "other port"])
def test_allowed_origin_is_accepted(
    sites: Sites, site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sites.forget()
    check = sites.app.extensions["frontdesk"].get(CookieSessions).cross_site
    monkeypatch.setattr(check, "origins", frozenset({sites.origin_of(site)}))
    received = sites.visit(CrossSiteRequest("allowed", site, fetch_script("POST", "no-cors"), []))
    assert [(each.method, each.has_cookie, each.status) for each in received] == [
        ("POST", True, 200)
    ]
    assert sites.bought == ["ada@example.com"]


def test_without_the_check_sibling_sites_succeed(
    sites: Sites, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Proves that the check rejects the requests, and not how the tests send them."""
    monkeypatch.setattr(CrossSiteCheck, "check", lambda *_: None)
    accepted = [sent for sent in REQUESTS if sent.received == WITH_COOKIE and sent.to == BUY]
    for number, sent in enumerate(accepted, 1):
        sites.visit(sent)
        assert len(sites.bought) == number, sent.name
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
        request_bytes = (
            f"POST /api/v1/buy HTTP/1.1\r\nHost: {DESK}:{sites.port}\r\n{more}"
            f"Cookie: {NAME}={cookie['value']}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        )
        with (
            socket.create_connection(("127.0.0.1", sites.port), timeout=5) as raw,
            tls.wrap_socket(raw, server_hostname=DESK) as wrapped,
        ):
            wrapped.sendall(request_bytes.encode())
            assert wrapped.recv(65536).startswith(f"HTTP/1.1 {status}".encode())
