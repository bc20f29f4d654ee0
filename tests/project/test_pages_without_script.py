"""The account pages of the documentation, in a real browser without JavaScript."""

from __future__ import annotations

import base64
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from app.auth.mfa.totp import STEP_SECONDS, code_at

from ..rigs.installed import serve
from ..rigs.servers import ROOT

_SERVE = """
import sys
from app import create_app, frontdesk

app = create_app("sqlite:///account.db")
app.debug = True
with app.app_context():
    frontdesk.accounts.create("ada@example.com", "correct horse battery")
app.run(port=int(sys.argv[1]), use_reloader=False)
"""


@pytest.fixture
def address(python: str, tmp_path: Path) -> Iterator[str]:
    folder = shutil.copytree(ROOT / "examples" / "server_rendered", tmp_path / "server_rendered")
    with serve(python, _SERVE, folder) as address:
        yield address


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(java_script_enabled=False)
    yield context.new_page()
    context.close()


class Codes:
    """An authenticator app. Each code is used once; the code of the next time step is already
    valid."""

    def __init__(self, secret: str) -> None:
        self.secret = base64.b32decode(secret + "=" * (-len(secret) % 8))
        self.last = 0

    def next(self) -> str:
        step = int(time.time()) // STEP_SECONDS
        while (chosen := max(step, self.last + 1)) > step + 1:
            time.sleep(1)
            step = int(time.time()) // STEP_SECONDS
        self.last = chosen
        return code_at(self.secret, chosen)


def sign_in(page: Page) -> None:
    page.get_by_label("Email").fill("ada@example.com")
    page.get_by_label("Password").fill("correct horse battery")
    page.get_by_role("button", name="Sign in").click()


def set_up_app(page: Page) -> tuple[Codes, list[str]]:
    page.get_by_role("button", name="Set up an app").click()
    expect(page.locator("svg")).to_be_visible()
    codes = Codes(page.locator("#secret").inner_text().replace(" ", ""))
    page.get_by_label("Code from the app").fill(codes.next())
    page.get_by_role("button", name="Confirm").click()
    expect(page.locator("li")).to_have_count(10)
    return codes, page.locator("li").all_inner_texts()


def test_mfa_reauthentication_and_devices_work_without_a_script(page: Page, address: str) -> None:
    page.goto(f"{address}/")
    sign_in(page)
    expect(page.get_by_text("ada@example.com")).to_be_visible()
    codes, recovery_codes = set_up_app(page)
    page.get_by_role("link", name="Continue").click()
    page.get_by_role("button", name="Sign out").click()

    sign_in(page)
    expect(page.get_by_role("heading", name="Enter a code")).to_be_visible()
    page.get_by_label("Recovery code").fill("not-a-code")
    page.get_by_role("button", name="Use recovery code").click()
    expect(page.get_by_role("alert")).to_have_text("Incorrect code")
    page.get_by_label("Recovery code").fill(recovery_codes[0])
    page.get_by_role("button", name="Use recovery code").click()
    expect(page.get_by_role("heading", name="Your account")).to_be_visible()

    page.goto(f"{address}/confirm")
    page.get_by_label("Code from the app").fill(codes.next())
    page.get_by_role("button", name="Confirm").click()
    expect(page.get_by_role("heading", name="Your account")).to_be_visible()
    page.get_by_role("link", name="Delete all notes").click()
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("status")).to_have_text("All notes are deleted.")

    page.get_by_role("link", name="Your account").click()
    page.get_by_role("link", name="Devices").click()
    expect(page.get_by_text("(this device)")).to_have_count(1)
    page.locator("li", has_text="this device").get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
