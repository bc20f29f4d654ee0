"""The cookie session examples of the documentation, in a real browser: a form, htmx, and a
script."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from ..rigs.htmx import htmx
from ..rigs.installed import serve
from ..rigs.servers import ROOT

_SERVE = """
import sys
from app import create_app, frontdesk

app = create_app("sqlite:///page.db")
app.debug = True
with app.app_context():
    frontdesk.accounts.create("ada@example.com", "correct horse battery")
app.run(port=int(sys.argv[1]), use_reloader=False)
"""
_SCRIPT = """
async () => {
  const { signIn, signOut, readSession } = await import("/static/session.js");
  const before = (await readSession()).account.email;
  await signOut();
  const anonymous = await readSession();
  const refused = await signIn("ada@example.com", "wrong").catch((problem) => problem.code);
  const after = (await signIn("ada@example.com", "correct horse battery")).account.email;
  return { before, anonymous, refused, after, cookie: document.cookie };
}
"""


@pytest.fixture
def address(python: str, tmp_path: Path) -> Iterator[str]:
    folder = shutil.copytree(ROOT / "examples" / "cookie_pages", tmp_path / "cookie_pages")
    (folder / "static" / "htmx.min.js").write_bytes(htmx())
    with serve(python, _SERVE, folder) as address:
        yield address


def test_form_htmx_and_script_use_the_cookie_session(browser: Browser, address: str) -> None:
    page = browser.new_page()
    page.goto(f"{address}/login")
    page.fill("[name=email]", "ada@example.com")
    page.fill("[name=password]", "correct horse battery")
    page.click("button")
    expect(page.get_by_text("ada@example.com")).to_be_visible()
    page.fill("form[action='/notes'] input", "Milk is out")
    page.click("text='Add'")
    expect(page.locator("li")).to_have_text(["Milk is out"])
    page.fill("form[hx-post] input", "Water the plants")
    page.click("text='Add without loading the page'")
    expect(page.locator("li")).to_have_text(["Milk is out", "Water the plants"])
    assert page.evaluate(_SCRIPT) == {
        "before": "ada@example.com",
        "anonymous": None,
        "refused": "incorrect_credentials",
        "after": "ada@example.com",
        "cookie": "",
    }
    page.click("text='Sign out'")
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    response = page.goto(f"{address}/")
    assert response is not None
    assert response.status == 401
    page.close()
