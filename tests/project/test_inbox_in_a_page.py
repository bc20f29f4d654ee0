"""The example of the guide to `<frontdesk-inbox>`, installed from the wheel, in a real browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from ..rigs.axe import violations
from ..rigs.installed import serve
from ..rigs.servers import ROOT
from ..rigs.shop import browser_context

_SERVE = """
import sys
from app import create_app, frontdesk

port = int(sys.argv[1])
app = create_app("sqlite:///inbox.db", f"http://127.0.0.1:{port}")
app.debug = True
with app.app_context():
    frontdesk.accounts.create("ada@example.com", "correct horse battery")
app.run(port=port, use_reloader=False)
"""


@pytest.fixture
def address(python: str, tmp_path: Path) -> Iterator[str]:
    folder = shutil.copytree(ROOT / "examples" / "inbox", tmp_path / "inbox")
    with serve(python, _SERVE, folder) as address:
        yield address


def test_note_is_announced_opened_and_deleted(browser: Browser, address: str) -> None:
    """The context fails for every violation of the page's policy."""
    with browser_context(browser) as context:
        page = context.new_page()
        page.goto(f"{address}/login")
        page.fill("[name=email]", "ada@example.com")
        page.fill("[name=password]", "correct horse battery")
        page.click("button")
        page.fill("[name=text]", "Milk is out")
        page.get_by_role("button", name="Pin").click()
        page.get_by_role("button", name="1 new notification").click()
        assert violations(page) == []
        page.get_by_role("link", name="A note was pinned").click()
        expect(page.get_by_role("heading")).to_have_text("Milk is out")
        page.get_by_role("button", name="Notifications").click()
        expect(page.get_by_role("button", name="Mark as unread")).to_be_visible()
        page.get_by_role("button", name="Delete: A note was pinned").click()
        page.get_by_role("button", name="Undo").click()
        page.get_by_role("button", name="Delete: A note was pinned").click()
        page.goto(f"{address}/")
        page.get_by_role("button", name="Notifications").click()
        expect(page.get_by_text("No notifications")).to_be_visible()
