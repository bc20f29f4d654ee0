"""Account security and workspaces in a real browser."""

from __future__ import annotations

import re

from playwright.sync_api import Browser, Page, expect

from ..auth.factors import Phone
from ..conftest import only_on
from ..rigs.console.cells import WIDE
from ..rigs.console.site import Site, Visitors
from ..rigs.virtual_authenticator import Device
from .page_client import link_of

pytestmark = only_on("sqlite")
NEW = "otters like cold rivers"


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).last.click()


def follow(page: Page, name: str) -> None:
    page.get_by_role("link", name=name, exact=True).first.click()


def is_headed(page: Page, words: str) -> None:
    page.get_by_role("heading", level=1, name=words).wait_for()


def test_user_sets_up_an_authenticator_app(
    site: Site, visitors: Visitors, browser: Browser
) -> None:
    ada = visitors(site.person("ada"))
    page = ada.page
    ada.open("/security")
    follow(page, "Set up: Authenticator apps")
    is_headed(page, "Set up an authenticator app")
    expect(page.get_by_label("Current code from the app")).to_be_focused()
    page.get_by_label("Name").fill("Blue phone")
    secret = page.get_by_label("Key for the app").inner_text().replace(" ", "")
    phone = Phone(secret, site.clock)
    ada.faults.expect(400)
    page.get_by_label("Current code from the app").fill(phone.wrong_code())
    press(page, "Confirm")
    page.get_by_role("alert").wait_for()
    ada.picture("app-refused")
    assert page.get_by_label("Key for the app").inner_text().replace(" ", "") == secret
    assert page.get_by_label("Name").input_value() == "Blue phone"
    page.get_by_label("Current code from the app").fill(phone.code())
    press(page, "Confirm")
    is_headed(page, "Your recovery codes")
    assert page.locator(".recovery-codes li").count() == 10
    ada.picture("recovery-codes-shown")
    with page.expect_download() as downloaded:
        press(page, "Download")
    assert downloaded.value.suggested_filename.endswith(".txt")
    assert_only_codes_are_printed(browser, site, page)
    follow(page, "I've saved these codes")
    page.get_by_text("Blue phone").wait_for()
    page.get_by_text("10 of 10").first.wait_for()
    ada.picture("factors-with-an-app")
    follow(page, "Change Blue phone")
    page.get_by_label("Name").fill("Green phone")
    press(page, "Save")
    page.get_by_text("Renamed to Green phone.").first.wait_for()
    follow(page, "Change Green phone")
    page.locator("summary", has_text="Remove").click()
    press(page, "Remove")
    page.get_by_text("Removed Green phone.").first.wait_for()


def assert_only_codes_are_printed(browser: Browser, site: Site, shown: Page) -> None:
    """Check the page in another browser context, because changing the medium moves elements."""
    paper = browser.new_page()
    paper.goto(f"{site.base}/sign-in")
    paper.emulate_media(media="print")
    paper.set_content(shown.content())
    codes = shown.locator(".recovery-codes li").all_inner_texts()
    printed = paper.locator("body").inner_text()
    assert printed.split()[-10:] == codes
    about = r"Frontdesk: recovery codes\s+Account: ada@example.com\s+Created: [\w ]+\d{4}\s+"
    assert re.match(about + codes[0], printed)
    paper.context.close()


def test_user_adds_a_passkey(site: Site, browser: Browser) -> None:
    come = Visitors(browser, site, WIDE)
    ada = come(site.person("ada"))
    page = ada.page
    device = Device(page)
    ada.open("/security")
    follow(page, "Add: Passkeys")
    follow(page, "Add a passkey")
    page.get_by_label("Name").fill("Laptop")
    press(page, "Create passkey")
    is_headed(page, "Your recovery codes")
    assert len(device.credentials) == 1
    ada.open("/security/passkeys")
    page.get_by_text("Laptop").wait_for()
    ada.picture("passkeys-with-one")
    come.leave()


def test_password_change_signs_out_other_browsers(site: Site, visitors: Visitors) -> None:
    person = site.person("ada")
    ada, elsewhere = visitors(person), visitors(person)
    page = ada.page
    ada.open("/security/sessions")
    assert page.get_by_role("listitem").filter(has_text="Signed in").count() == 2
    ada.open("/security")
    follow(page, "Change: Password")
    page.get_by_label("Current password").fill(person.password)
    page.get_by_label("New password", exact=True).fill(NEW)
    press(page, "Change password")
    page.get_by_text("Password changed.").first.wait_for()
    elsewhere.open("/security")
    elsewhere.page.get_by_role("button", name="Sign in", exact=True).wait_for()


def test_workspace_is_created_and_a_member_joins(site: Site, visitors: Visitors) -> None:
    ada, bob = visitors(site.person("ada")), visitors(site.person("bob"))
    page = ada.page
    ada.open("/workspaces")
    follow(page, "New workspace")
    page.get_by_label("Name", exact=True).fill("Gardeners")
    press(page, "Create workspace")
    is_headed(page, "Gardeners")
    follow(page, "Invite")
    page.get_by_label("Addresses").fill("bob@example.com")
    page.get_by_text("Guest", exact=True).click()
    press(page, "Send")
    page.get_by_text("One invitation sent.").first.wait_for()
    bob.open(link_of(site.mails, "bob@example.com"))
    is_headed(bob.page, "Join Gardeners")
    bob.picture("invitation-to-accept")
    press(bob.page, "Accept")
    is_headed(bob.page, "Gardeners")
    bob.page.get_by_text("You joined the workspace.").first.wait_for()
    ada.open("/workspaces/gardeners")
    follow(page, "Change bob@example.com")
    page.get_by_text("Admin", exact=True).last.click()
    press(page, "Save")
    page.get_by_text("Changed bob@example.com.").first.wait_for()
    ada.open("/workspaces/gardeners/activity")
    page.get_by_text("Workspace role changed from guest to admin").first.wait_for()
    ada.open("/workspaces/gardeners/settings")
    page.get_by_label("Enter “Gardeners” to confirm").fill("Gardeners")
    press(page, "Delete workspace")
    page.get_by_text("Deleted Gardeners.").first.wait_for()
