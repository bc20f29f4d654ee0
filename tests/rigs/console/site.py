"""The whole service, served to real browsers on this machine."""

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
from app.testing.outbox import MailOutbox, ManualEngine
from app.testing.people import Person, make_person

from ..cookie_browsers import NAME, CookieBrowser
from ..web_sites import serve_site
from . import screens
from .cells import Cell
from .faults import Faults, listed

_PAINTED = "new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))"
# Every room that has pages. On a machine's own name browsers keep cookies that ask for TLS, and
# make passkeys.
ROOMS = {
    "AUTH__COOKIE_SESSIONS": "on",
    "AUTH__MFA": "optional",
    "AUTH__MFA_TRUST_DAYS": "30",
    "AUTH__PASSKEYS": "on",
    "AUTH__LOGIN_BY_CODE": "on",
    "AUTH__REGISTRATION": "open",
    "AUTH__ACCOUNT_EXPORTS": "on",
    "AUTH__ACCOUNT_DELETION": "on",
    "AUTH__RATE_LIMITS_ENABLED": "false",
}


@dataclass
class Site:
    app: Flask
    base: str
    mails: MailOutbox
    clock: SteppingClock
    # Delivers when the test says so.
    engine: ManualEngine

    def person(self, name: str, **fields: Any) -> Person:
        return make_person(self.app, name, prefix="/api/v1", **fields)

    def cookie_of(self, somebody: Person) -> str:
        """Of a new session; who has a second factor signs in on the pages."""
        client = CookieBrowser(self.app)
        client.sign_in(somebody)
        assert client.cookie
        return client.cookie


class Visitor:
    """Somebody at a browser of their own. What goes wrong in it fails the test at its end."""

    def __init__(self, site: Site, context: BrowserContext, cell: Cell) -> None:
        self.site = site
        self.cell = cell
        self.context = context
        self.faults = Faults(context, site.base)
        self.page: Page = context.new_page()

    def sign_in(self, somebody: Person) -> None:
        """Without the page for it, which has tests of its own."""
        value = self.site.cookie_of(somebody)
        # As over TLS: what asks for it can be put in place by such an address alone.
        self.context.add_cookies([{"name": NAME, "value": value, "url": "https://localhost/"}])

    def open(self, path: str) -> Answer:
        """A page, by its path or by the link of a mail; all it loads has come."""
        url = path if path.startswith("http") else self.site.base + path
        answer = self.page.goto(url, wait_until="load")
        assert answer is not None, f"{path} leads nowhere"
        return answer

    def meet(self, cell: Cell) -> None:
        """From now on at a screen of this width and in this theme."""
        self.cell = cell
        self.page.set_viewport_size(cell.size)
        self.page.emulate_media(color_scheme=cell.theme)

    def settle(self) -> None:
        """What a script does as soon as it can has been done, and is painted."""
        if self.cell.script:
            self.page.evaluate(_PAINTED)

    def picture(self, name: str) -> None:
        screens.take(self._tools, name, self.cell)

    @cached_property
    def _tools(self) -> CDPSession:
        return self.context.new_cdp_session(self.page)

    def leave(self) -> list[str]:
        # What the browser has still to tell is told in turn.
        self.page.evaluate("0")
        self.context.close()
        return self.faults.found()


class Visitors:
    """All that come in one test."""

    def __init__(self, browser: Browser, site: Site, cell: Cell) -> None:
        self.browser, self.site, self.cell = browser, site, cell
        self._come: list[Visitor] = []

    def __call__(self, somebody: Person | None = None, *, cell: Cell | None = None) -> Visitor:
        """One more, who is signed in if they are told who they are."""
        chosen = cell or self.cell
        visitor = Visitor(self.site, chosen.context(self.browser), chosen)
        self._come.append(visitor)
        if somebody is not None:
            visitor.sign_in(somebody)
        return visitor

    def leave(self) -> None:
        found = [fault for visitor in self._come for fault in visitor.leave()]
        assert not found, listed(found)


@contextmanager
def serve(
    app: Flask, port: int, mails: MailOutbox, clock: SteppingClock, engine: ManualEngine
) -> Iterator[Site]:
    with serve_site(app, port=port):
        yield Site(app, f"http://localhost:{port}", mails, clock, engine)
