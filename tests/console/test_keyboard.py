"""Tasks that are done with the keyboard alone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from app.console.admin import compose
from app.frontdesk import Frontdesk

from ..auth.factors import Phone
from ..conftest import only_on
from ..rigs.console.cells import USUAL, WIDE, Cell, in_cells
from ..rigs.console.keyboard import Keyboard
from ..rigs.console.site import Site, Visitors

pytestmark = [only_on("sqlite"), in_cells(WIDE)]


def is_at(page: Page, heading: str) -> None:
    """Wait for the page with this heading, which must have the focus."""
    expect(page.get_by_role("heading", level=1, name=heading, exact=True)).to_be_focused()


def test_broadcast_is_written_and_sent_by_keyboard(site: Site, visitors: Visitors) -> None:
    ada, bob = site.person("ada"), site.person("bob")
    boss = visitors(site.person("boss", role="admin"))
    page, keyboard = boss.page, Keyboard(boss.page)
    boss.open("/admin/broadcasts")
    keyboard.to("New broadcast")
    keyboard.press("Enter")
    is_at(page, "New broadcast")
    keyboard.to("Title")
    keyboard.type("Maintenance")
    keyboard.to("Message")
    keyboard.type("On Sunday.")
    keyboard.to("Email")
    expect(page.get_by_label("Email", exact=True)).to_be_checked()
    keyboard.to("Accounts by filter")
    keyboard.press("ArrowDown", "ArrowDown")
    keyboard.to("List")
    keyboard.type(f"{ada.email}\n{bob.email}")
    keyboard.to("Review")
    keyboard.press("Enter")
    is_at(page, "Check the broadcast")
    keyboard.to("Send now")
    keyboard.press("Enter")
    is_at(page, "Maintenance")
    expect(page.get_by_text("2 queued")).to_be_visible()
    keyboard.to("Broadcasts", "Shift+Tab")


@pytest.mark.parametrize("variant", USUAL, ids=str)
def test_enter_presses_the_button_after_the_field(
    site: Site, visitors: Visitors, variant: Cell
) -> None:
    boss = visitors(site.person("boss", role="admin"), cell=variant)
    page = boss.page
    boss.open("/admin/broadcasts/new")
    page.get_by_label("Title").fill("Maintenance")
    page.get_by_label("Message", exact=True).fill("On Sunday.")
    page.get_by_label("Email", exact=True).check()
    page.get_by_role("button", name="Review").click()
    is_at(page, "Check the broadcast")
    page.get_by_text("Save these recipients as a segment").click()
    page.get_by_label("Name of the segment").fill("Active")
    page.get_by_label("Name of the segment").press("Enter")
    expect(page.get_by_text("Segment “Active” saved.")).to_be_visible()


def test_enter_after_the_number_of_recipients_sends_the_broadcast(
    site: Site, visitors: Visitors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compose, "CONFIRM_ABOVE", 0)
    boss = visitors(site.person("boss", role="admin"))
    page = boss.page
    boss.open("/admin/broadcasts/new")
    page.get_by_label("Title").fill("Maintenance")
    page.get_by_label("Message", exact=True).fill("On Sunday.")
    page.get_by_role("button", name="Review").click()
    # The first button of the form saves the recipients as a segment.
    number = page.get_by_label("Enter 1 to confirm the number of recipients")
    number.fill("1")
    number.press("Enter")
    is_at(page, "Maintenance")


def test_accounts_are_selected_and_suspended_by_keyboard(site: Site, visitors: Visitors) -> None:
    people = [site.person(f"member{number}") for number in range(3)]
    boss = visitors(site.person("boss", role="admin"))
    page, keyboard = boss.page, Keyboard(boss.page)
    boss.open("/admin/accounts")
    keyboard.to("Search accounts")
    keyboard.type("member")
    keyboard.press("Enter")
    page.wait_for_url("**search=member**")
    is_at(page, "Accounts")
    keyboard.to(f"Select {people[0].email}")
    keyboard.press("Space")
    keyboard.to(f"Select {people[2].email}")
    keyboard.press("Space")
    keyboard.to("Suspend…", "Shift+Tab")
    keyboard.press("Enter")
    is_at(page, "Suspend 2 accounts?")
    keyboard.to("A week")
    keyboard.press("ArrowDown")
    keyboard.to("Suspend 2 accounts")
    keyboard.press("Enter")
    is_at(page, "Accounts")
    expect(page.locator("tbody").get_by_text("Suspended", exact=True)).to_have_count(2)


def test_authenticator_app_is_set_up_by_keyboard(site: Site, visitors: Visitors) -> None:
    her = visitors(site.person("ada"))
    page, keyboard = her.page, Keyboard(her.page)
    her.open("/security")
    keyboard.to("Set up: Authenticator apps")
    keyboard.press("Enter")
    expect(page.get_by_label("Current code from the app")).to_be_focused()
    secret = page.get_by_label("Key for the app").inner_text().replace(" ", "")
    phone = Phone(secret, site.clock)
    keyboard.type(phone.wrong_code())
    her.faults.expect(400)
    keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_be_focused()
    keyboard.to("Current code from the app")
    keyboard.press("Control+a")
    keyboard.type(phone.code())
    keyboard.to("Confirm")
    keyboard.press("Enter")
    is_at(page, "Your recovery codes")
    keyboard.to("Download")
    with page.expect_download():
        keyboard.press("Enter")
    keyboard.to("I've saved these codes")
    keyboard.press("Enter")
    is_at(page, "Two-factor authentication")
    expect(page.get_by_text("10 of 10").first).to_be_visible()


def test_keys_move_between_messages_and_delete_them(site: Site, visitors: Visitors) -> None:
    ada = site.person("ada")
    with site.app.app_context():
        for title in ("First", "Second", "Third", "Fourth"):
            Frontdesk().notify(title, "A message.", receivers=[ada.id])
    her = visitors(ada)
    page, keyboard = her.page, Keyboard(her.page)
    her.open("/dashboard")
    titles = page.locator("#items .through")
    keyboard.press("j")
    expect(titles.nth(0)).to_be_focused()
    keyboard.press("j", "j", "k")
    expect(titles.nth(1)).to_be_focused()
    keyboard.press("e")
    expect(titles).to_have_text([re.compile(title) for title in ("Fourth", "Second", "First")])
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    expect(titles.nth(1)).to_be_focused()
    keyboard.press("Enter")
    is_at(page, "Second")
    keyboard.press("j")
    is_at(page, "First")
    keyboard.press("k")
    is_at(page, "Second")
    # Next to the list, the next message opens.
    keyboard.press("e")
    is_at(page, "First")
    expect(page.locator("#items [aria-current]")).to_have_text(re.compile("First"))
    expect(titles).to_have_text([re.compile("Fourth"), re.compile("First")])
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    page.set_viewport_size({"width": 1099, "height": 800})
    expect(titles.first).to_be_hidden()
    keyboard.press("e")
    is_at(page, "Inbox")
    expect(titles).to_have_text([re.compile("Fourth")])
