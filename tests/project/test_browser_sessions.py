"""A page that keeps its user signed in, in a real browser with several tabs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask
from playwright.sync_api import Browser, BrowserContext, Page

from ..conftest import PASSWORD, SECRET, Backend, MakePerson, only_on
from ..rigs.servers import ROOT, gunicorn

CLIENT = ROOT / "examples" / "refresh_tokens" / "client.js"
TABS = 3
SIGN_IN = "async ([email, password]) => (await import('/client.js')).signIn(email, password)"
# Make the access token half an hour old.
EXPIRE_TOKEN = """
() => {
  const tokens = JSON.parse(localStorage.getItem("frontdesk"));
  const expired = { ...tokens, expires: "2020-01-01T00:00:00Z" };
  localStorage.setItem("frontdesk", JSON.stringify(expired));
}
"""
REQUEST = """
async (times) => {
  const { request } = await import("/client.js");
  const asked = Array.from({ length: times }, () => request("/account"));
  return (await Promise.all(asked)).map((response) => response.status);
}
"""
REVOKE_OTHERS = """
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


def test_one_tab_refreshes_the_token_for_all_tabs(
    context: BrowserContext, tabs: list[Page]
) -> None:
    exchanges: list[str] = []
    context.on(
        "request",
        lambda sent: exchanges.append(sent.url) if sent.url.endswith("/api/v1/token") else None,
    )
    for number in range(5):
        tabs[0].evaluate(EXPIRE_TOKEN)
        # All tabs start before any of them has finished.
        for tab in tabs:
            tab.evaluate(f"() => {{ window.responses = ({REQUEST})(5) }}")
        assert [tab.evaluate("window.responses") for tab in tabs] == [[200] * 5] * TABS
        assert len(exchanges) == number + 1


def test_revoked_session_ends_in_every_tab(tabs: list[Page]) -> None:
    first, second, _ = tabs
    assert second.evaluate(REVOKE_OTHERS) == 1
    assert first.evaluate(REQUEST, 3) == [401] * 3
    assert first.evaluate("localStorage.length") == 0
