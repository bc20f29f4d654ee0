"""A page that stays signed in, in a real browser with several tabs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask
from playwright.sync_api import Browser, BrowserContext, Page

from ..conftest import PASSWORD, SECRET, Backend, MakePerson, only_on
from ..rigs.servers import ROOT, gunicorn

CLIENT = ROOT / "examples" / "staying" / "client.js"
TABS = 3
SIGN_IN = "async ([email, password]) => (await import('/client.js')).signIn(email, password)"
# As if half an hour had passed.
AGE = """
() => {
  const held = JSON.parse(localStorage.getItem("frontdesk"));
  localStorage.setItem("frontdesk", JSON.stringify({ ...held, expires: "2020-01-01T00:00:00Z" }));
}
"""
ASK = """
async (times) => {
  const { request } = await import("/client.js");
  const asked = Array.from({ length: times }, () => request("/account"));
  return (await Promise.all(asked)).map((response) => response.status);
}
"""
END = """
async () => {
  const { request } = await import("/client.js");
  return (await (await request("/sessions", { method: "DELETE" })).json()).ended;
}
"""

pytestmark = only_on("sqlite")


@pytest.fixture
def address(app: Flask, backend: Backend, person: MakePerson, tmp_path: Path) -> Iterator[str]:
    person("ada")
    settings = {
        "SECRET_KEY": SECRET,
        "CORE__DATABASE_URL": backend.database_url,
        "AUTH__BCRYPT_ROUNDS": "4",
        "AUTH__SESSIONS": "on",
        "AUTH__REFRESH_TOKEN_DAYS": "14",
        "WEB_CONCURRENCY": "1",
    }
    with gunicorn(settings, tmp_path / "log") as port:
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context()
    context.route("**/client.html", lambda to: to.fulfill(body="", content_type="text/html"))
    context.route(
        "**/client.js", lambda to: to.fulfill(path=CLIENT, content_type="text/javascript")
    )
    yield context
    context.close()


@pytest.fixture
def tabs(context: BrowserContext, address: str) -> list[Page]:
    tabs = [context.new_page() for _ in range(TABS)]
    for tab in tabs:
        tab.goto(f"{address}/client.html")
    tabs[0].evaluate(SIGN_IN, ["ada@example.com", PASSWORD])
    return tabs


def test_of_all_tabs_one_refreshes_and_none_is_signed_out(
    context: BrowserContext, tabs: list[Page]
) -> None:
    exchanges: list[str] = []
    context.on(
        "request",
        lambda sent: exchanges.append(sent.url) if sent.url.endswith("/api/v1/token") else None,
    )
    for number in range(5):
        tabs[0].evaluate(AGE)
        # Begun in every tab before the first has ended.
        for tab in tabs:
            tab.evaluate(f"() => {{ window.answers = ({ASK})(5) }}")
        assert [tab.evaluate("window.answers") for tab in tabs] == [[200] * 5] * TABS
        assert len(exchanges) == number + 1


def test_an_end_elsewhere_is_an_end_in_every_tab(tabs: list[Page]) -> None:
    first, second, _ = tabs
    assert second.evaluate(END) == 1
    assert first.evaluate(ASK, 3) == [401] * 3
    assert first.evaluate("localStorage.length") == 0
