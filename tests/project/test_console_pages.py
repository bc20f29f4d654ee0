"""The example that makes the console its own, installed from the wheel, in a real browser.

`make screens` takes the pictures of its page here, in the folder that FRONTDESK_SCREENS names.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from ..rigs.axe import violations
from ..rigs.installed import serve
from ..rigs.servers import ROOT
from ..rigs.shop import browser_context

PASSWORD = "correct horse battery"
PICTURES = os.environ.get("FRONTDESK_SCREENS")
# `localhost` is another origin than 127.0.0.1, where the pages are.
_SERVE = f"""
import os, sys

port = int(sys.argv[1])
os.environ["FRONTDESK_BRAND__LOGO_URL"] = f"http://localhost:{{port}}/static/logo.svg"
from app import Note, create_app, db, frontdesk

app = create_app("sqlite:///pinboard.db")
app.debug = True
with app.app_context():
    ada = frontdesk.accounts.create("ada@example.com", "{PASSWORD}")
    frontdesk.accounts.create("grace@example.com", "{PASSWORD}", role="root")
    db.session.add(Note(account_id=ada.id, text="Water the plants"))
    db.session.commit()
app.run(port=port, use_reloader=False)
"""


@pytest.fixture(scope="module")
def address(python: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("desk") / "console_pages"
    shutil.copytree(ROOT / "examples" / "console_pages", folder)
    with serve(python, _SERVE, folder) as address:
        yield f"{address}/console"


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """The context fails for every violation of the page's policy."""
    with browser_context(browser) as context:
        yield context


def signed_in(context: BrowserContext, address: str, name: str) -> Page:
    page = context.new_page()
    page.set_viewport_size({"width": 1100, "height": 720})
    page.goto(f"{address}/sign-in")
    page.get_by_label("Email").fill(f"{name}@example.com")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url(f"{address}/notes")
    return page


def check(page: Page, picture: str) -> None:
    assert violations(page) == []
    if PICTURES:
        # Other options add inline styles, which the policy rejects.
        page.wait_for_timeout(500)
        page.screenshot(path=Path(PICTURES) / f"console-{picture}.png", caret="initial")


def entries(page: Page) -> Locator:
    return page.get_by_role("navigation", name="Sections").get_by_role("link")


def test_sign_in_opens_the_notes_and_a_message_is_shown(
    context: BrowserContext, address: str
) -> None:
    page = signed_in(context, address, "ada")
    page.get_by_label("Text").fill("Milk is out")
    page.get_by_role("button", name="Pin").click()
    expect(page.get_by_role("status").filter(has_text="Pinned.")).to_be_visible()
    expect(page.get_by_role("rowheader", name="Milk is out").first).to_be_visible()
    check(page, "message")


def test_admin_sees_own_entries_and_the_tab_of_an_account(
    context: BrowserContext, address: str
) -> None:
    page = signed_in(context, address, "grace")
    expect(entries(page).first).to_have_text("Notes")
    expect(entries(page).filter(has_text="Notes to review")).to_have_text(
        re.compile(r"Notes to review\s*\d")
    )
    expect(entries(page).filter(has_text="Handbook")).to_have_attribute("rel", "noopener")
    expect(entries(page).filter(has_text="Settings")).to_have_count(0)
    entries(page).filter(has_text="Notes to review").click()
    expect(page.get_by_role("heading", name="Notes to review")).to_be_visible()
    check(page, "entries")
    entries(page).filter(has_text="Accounts").click()
    page.get_by_role("link", name="ada@example.com").click()
    page.get_by_role("link", name="Notes of the account").click()
    expect(page.locator("main").get_by_text("Water the plants")).to_be_visible()
    check(page, "panel")


def test_brand_has_a_logo_of_another_site_a_dark_logo_corners_and_a_font(
    context: BrowserContext, address: str
) -> None:
    page = context.new_page()
    page.set_viewport_size({"width": 800, "height": 600})
    page.goto(f"{address}/sign-in")
    logo = page.get_by_role("img", name="Pinboard")
    assert str(logo.get_attribute("src")).startswith("http://localhost:")
    assert logo.evaluate("(image) => image.complete && image.naturalWidth") == 140
    style = "(e) => [getComputedStyle(e).content, getComputedStyle(e).fontFamily]"
    assert logo.evaluate(style) == ["normal", "Georgia, serif"]
    expect(page.get_by_text("Test system")).to_be_visible()
    button = page.get_by_role("button", name="Sign in", exact=True)
    expect(button).to_have_css("border-radius", "2px")
    page.emulate_media(color_scheme="dark")
    page.reload()
    assert "logo-dark.svg" in logo.evaluate(style)[0]
    check(page, "brand")
