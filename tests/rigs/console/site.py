"""The service with all features, served to real browsers on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from flask import Flask
from playwright.sync_api import Browser, BrowserContext, CDPSession, Page
from playwright.sync_api import Response as Answer

from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox
from app.testing.people import Person, make_person

from ..cookie_browsers import NAME, CookieBrowser
from ..manual_engine import ManualEngine
from ..web_sites import serve_site
from . import screens
from .cells import Cell
from .faults import Faults, as_lines

_PAINTED = "new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))"
# All features that have pages. On localhost, browsers store secure cookies and create passkeys
# without TLS.
FEATURES = {
    "AUTH__COOKIE_SESSIONS": "on",
    "AUTH__MFA": "optional",
    "AUTH__MFA_TRUST_DAYS": "30",
    "AUTH__PASSKEYS": "on",
    "AUTH__LOGIN_BY_CODE": "on",
    "AUTH__REGISTRATION": "open",
    "AUTH__ACCOUNT_EXPORTS": "on",
    "AUTH__ACCOUNT_DELETION": "on",
    "AUTH__PERSONAL_TOKENS": "on",
    "AUTH__RATE_LIMITS_ENABLED": "false",
}


@dataclass
class Site:
    app: Flask
    base: str
    mails: MailOutbox
    clock: SteppingClock
    # Delivers when the test calls it.
    engine: ManualEngine

    def person(self, name: str, **fields: Any) -> Person:
        return make_person(self.app, name, prefix="/api/v1", **fields)

    def cookie_of(self, person: Person) -> str:
        """Sign in with a password only and return the session cookie."""
        client = CookieBrowser(self.app)
        client.sign_in(person)
        assert client.cookie
        return client.cookie


class Visitor:
    """A user with a separate browser context, which records errors for the end of the test."""

    def __init__(self, site: Site, context: BrowserContext, cell: Cell) -> None:
        self.site = site
        self.cell = cell
        self.context = context
        self.faults = Faults(context, site.base)
        self.page: Page = context.new_page()

    def sign_in(self, person: Person) -> None:
        """Sign in without the sign-in page."""
        value = self.site.cookie_of(person)
        # An https address: browsers accept secure cookies for no other.
        self.context.add_cookies([{"name": NAME, "value": value, "url": "https://localhost/"}])

    def open(self, path: str) -> Answer:
        """Open a page by its path or by the link of an email, and wait until it is loaded."""
        url = path if path.startswith("http") else self.site.base + path
        answer = self.page.goto(url, wait_until="load")
        assert answer is not None, f"{path} leads nowhere"
        return answer

    def meet(self, cell: Cell) -> None:
        """Change the width of the window and the theme."""
        self.cell = cell
        self.page.set_viewport_size(cell.size)
        self.page.emulate_media(color_scheme=cell.theme)

    def settle(self) -> None:
        """Wait until scripts have run and the page is painted."""
        if self.cell.script:
            self.page.evaluate(_PAINTED)

    def picture(self, name: str) -> None:
        browser, folder = self.context.browser, screens.FOLDER
        if not folder:
            return
        if browser is not None and browser.browser_type.name == "firefox":
            screens.take_in_firefox(self.page, folder, name, self.cell)
        else:
            screens.take(self._tools, folder, name, self.cell)

    @cached_property
    def _tools(self) -> CDPSession:
        return self.context.new_cdp_session(self.page)

    def leave(self) -> list[str]:
        # Events of the browser arrive in order, so this call waits for earlier events.
        self.page.evaluate("0")
        self.context.close()
        return self.faults.found()


class Visitors:
    """The visitors of one test."""

    def __init__(self, browser: Browser, site: Site, cell: Cell) -> None:
        self.browser, self.site, self.cell = browser, site, cell
        self._visitors: list[Visitor] = []

    def __call__(self, person: Person | None = None, *, cell: Cell | None = None) -> Visitor:
        """Add a visitor, signed in if a person is given."""
        chosen = cell or self.cell
        visitor = Visitor(self.site, chosen.context(self.browser), chosen)
        self._visitors.append(visitor)
        if person is not None:
            visitor.sign_in(person)
        return visitor

    def leave(self) -> None:
        found = [fault for visitor in self._visitors for fault in visitor.leave()]
        assert not found, as_lines(found)


@contextmanager
def serve(
    app: Flask, port: int, mails: MailOutbox, clock: SteppingClock, engine: ManualEngine
) -> Iterator[Site]:
    with serve_site(app, port=port):
        yield Site(app, f"http://localhost:{port}", mails, clock, engine)
