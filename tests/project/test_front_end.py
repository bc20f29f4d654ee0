"""The front end of the cookbook, in a real browser with the pinboard example."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from ..rigs.installed import serve
from ..rigs.servers import ROOT

TUTORIAL = ROOT / "examples" / "tutorial"
_SERVE = """
import sys
from pinboard import create_app
from pinboard.extensions import frontdesk
from pinboard.models import db

app = create_app("sqlite:///page.db")
with app.app_context():
    db.create_all()
    frontdesk.accounts.create("ada@example.com", "correct horse", name="Ada")
app.run(port=int(sys.argv[1]))
"""
_JOURNEY = """
async () => {
  const { nextStep, request, signIn, watchUnread } = await import("/client.js");
  const credentials = { email: "ada@example.com", password: "correct horse" };
  const refused = await signIn(credentials.email, "wrong").catch((problem) => problem);
  const account = await signIn(credentials.email, credentials.password);
  await request("/api/ada/notes/", { method: "POST", json: { text: "Milk is out" } });
  const [note] = await request("/api/ada/notes/");
  const blank = await request("/api/ada/notes/", { method: "POST", json: {} }).catch((p) => p);
  const ask = async (headers) => nextStep(await fetch("/api/account", { headers }));
  const form = new URLSearchParams({ username: "bob@example.com", password: "wrong" });
  const guess = async () => nextStep(await fetch("/api/login", { method: "POST", body: form }));
  const guesses = [];
  for (let count = 0; count < 7; count++) guesses.push(await guess());
  const unread = await new Promise((show) => clearInterval(watchUnread(show)));
  return {
    refused: [refused.status, refused.message],
    name: account.name,
    note: note.text,
    error: blank.errors[0].field,
    missing: await ask({}),
    malformed: await ask({ Authorization: "Bearer x" }),
    first: guesses[0],
    waits: guesses[6].wait > 0,
    unread,
  };
}
"""


@pytest.fixture
def address(python: str, tmp_path: Path) -> Iterator[str]:
    folder = shutil.copytree(TUTORIAL, tmp_path / "tutorial")
    with serve(python, _SERVE, folder) as address:
        yield address


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    page = browser.new_page()
    page.route("**/client.html", lambda route: route.fulfill(body="", content_type="text/html"))
    page.route(
        "**/client.js",
        lambda route: route.fulfill(path=TUTORIAL / "client.js", content_type="text/javascript"),
    )
    page.goto(f"{address}/client.html")
    yield page
    page.close()


def test_page_signs_in_reads_writes_and_shows_errors(page: Page) -> None:
    assert page.evaluate(_JOURNEY) == {
        "refused": [400, "Incorrect email or password"],
        "name": "Ada",
        "note": "Milk is out",
        "error": "text",
        "missing": {"signIn": True},
        "malformed": {"signIn": True},
        "first": {"show": "Incorrect email or password"},
        "waits": True,
        "unread": 0,
    }
