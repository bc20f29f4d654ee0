"""A shop with the inbox of `blueprints.notifications` on its pages, served to a real browser.

The policy of its pages allows nothing inline, and nothing from other sites.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flask import Flask, Response, render_template_string, request
from playwright.sync_api import Browser, BrowserContext, Page

from app import Frontdesk, blueprints
from app.accounts.account import Account
from app.auth.settings import AuthSettings
from app.core.config.settings import CoreSettings
from app.testing.people import Person, make_person

from .backends import free_port
from .cookie_browsers import NAME, CookieBrowser
from .hosts import HostSettings, plain_app
from .web_sites import serve_site

POLICY = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'"
INBOX = "/api/v1/notifications"
_PAGE = """<!doctype html>
<html lang="{{ lang }}" dir="{{ 'rtl' if lang == 'ar' else 'ltr' }}">
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Shop</title>
<link rel="stylesheet" href="/shop.css">
<script type="module" src="{{ frontdesk_inbox_url() }}"></script>
<script type="module" src="/shop.js"></script>
<header><b>Shop</b><frontdesk-inbox{% for name, value in attributes.items() %}
 {{ name }}="{{ value }}"{% endfor %}></frontdesk-inbox></header>
<main><h1>Orders</h1><p><a href="#orders">All orders</a></p></main>
"""
_STYLES = """
:root { color-scheme: light dark; font-family: sans-serif }
body { margin: 0; background: light-dark(#fff, #111) }
a { color: light-dark(#00e, #9ecbff) }
header { display: flex; justify-content: space-between; align-items: center; padding: 8px 16px;
  border-bottom: 1px solid #8888 }
main { padding: 0 16px }
"""
# A page whose scripts use a token, and which notes events.
_SCRIPT = """
const inbox = document.querySelector("frontdesk-inbox");
const token = new URLSearchParams(location.search).get("token");
window.events = [];
if (token) inbox.getToken = async () => window.token ?? token;
for (const kind of ["open", "unauthorized"]) inbox.addEventListener(kind, (event) => {
  events.push([kind, event.detail?.title ?? null]);
  if (window.isRouted && kind === "open") event.preventDefault();
});
"""


@dataclass
class Shop:
    app: Flask
    base: str = ""
    # The same server under the name of another site.
    other_base: str = ""
    # The requests of inboxes: method, path below the inbox, and status.
    requests: list[tuple[str, str, int]] = field(default_factory=list)
    # While it is set, the inbox responds with this status and these headers.
    failure: tuple[int, dict[str, str]] | None = None

    def person(self, name: str) -> Person:
        return make_person(self.app, name, prefix="/api/v1")

    def notify(self, person: Person, title: str, message: str = "A message.", **more: Any) -> None:
        with self.app.app_context():
            Frontdesk().notify(title, message, receivers=[person.id], **more)

    def sign_in(self, context: BrowserContext, person: Person) -> None:
        client = CookieBrowser(self.app)
        client.sign_in(person)
        # An https address: browsers accept secure cookies for no other.
        cookie = {"name": NAME, "value": client.cookie, "url": "https://localhost/"}
        context.add_cookies([cookie])  # type: ignore[list-item]

    def open(self, context: BrowserContext, query: str = "", *, path: str = "/") -> Page:
        page = context.new_page()
        page.goto(f"{self.base}{path}?{query}")
        return page

    def count(self, method: str, path: str, status: int | None = None) -> int:
        """Return the number of requests of a path."""
        return len(
            [
                each
                for each in self.requests
                if each[:2] == (method, path) and status in (None, each[2])
            ]
        )


def _make_app(folder: Path, port: int) -> Shop:
    host, db = plain_app(f"sqlite:///{folder / 'shop.db'}")
    settings = HostSettings()
    settings.CORE = CoreSettings(
        LOG_LEVEL="ERROR",
        CLIENT_HOST="https://shop.example",
        # Another site, whose pages may call the API with a token.
        CORS_ORIGINS=[f"http://127.0.0.1:{port}"],
    )
    settings.AUTH = AuthSettings(BCRYPT_ROUNDS=4, COOKIE_SESSIONS="on")
    Frontdesk().init_app(host, db, settings=settings, account_model=Account)
    host.register_blueprint(blueprints.auth, url_prefix="/api/v1")
    host.register_blueprint(blueprints.sessions, url_prefix="/api/v1")
    shop = Shop(host)

    @host.before_request
    def fail() -> Response | None:
        if shop.failure is None or not request.path.startswith(INBOX) or "element" in request.path:
            return None
        status, headers = shop.failure
        return Response(status=status, headers=headers)

    host.register_blueprint(blueprints.notifications, url_prefix=INBOX)

    @host.after_request
    def note(response: Response) -> Response:
        if request.path.startswith(INBOX) and "element" not in request.path:
            path = request.path.removeprefix(INBOX).strip("/")
            shop.requests.append((request.method, path, response.status_code))
        return response

    @host.get("/")
    @host.get("/orders/<number>")
    def page(number: str = "") -> Response:
        attributes = {key: value for key, value in request.args.items() if key != "token"}
        lang = attributes.pop("page-lang", "en")
        text = render_template_string(_PAGE, lang=lang, attributes=attributes)
        return Response(text, headers={"Content-Security-Policy": POLICY})

    @host.get("/elsewhere")
    def page_of_another_site() -> str:
        """A page without a policy, whose inbox is on the first site."""
        script = shop.base + render_template_string("{{ frontdesk_inbox_url() }}")
        return f'<script type="module" src="{script}"></script><frontdesk-inbox></frontdesk-inbox>'

    for name, text, kind in (("shop.css", _STYLES, "css"), ("shop.js", _SCRIPT, "javascript")):
        response = Response(text, mimetype=f"text/{kind}")
        host.add_url_rule(f"/{name}", name, lambda response=response: response)
    with host.app_context():
        db.create_all()
    return shop


@contextmanager
def serve_shop(folder: Path) -> Iterator[Shop]:
    port = free_port()
    shop = _make_app(folder, port)
    with serve_site(shop.app, port=port):
        shop.base = f"http://localhost:{port}"
        shop.other_base = f"http://127.0.0.1:{port}"
        yield shop


@contextmanager
def browser_context(browser: Browser, **options: Any) -> Iterator[BrowserContext]:
    """A browser context whose pages must not report an error."""
    context = browser.new_context(**options)
    errors: list[str] = []
    context.on("weberror", lambda error: errors.append(str(error.error)))
    context.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
    yield context
    context.close()
    assert [each for each in errors if "Failed to load resource" not in each] == []
