"""The command palette and the keyboard shortcuts."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from ..rigs.axe import serious_violations
from ..rigs.console.cells import SMALL, WIDE, in_cells
from ..rigs.console.site import Site, Visitor, Visitors


@pytest.fixture
def admin(site: Site, visitors: Visitors) -> Visitor:
    grace, boss = site.person("grace", time_zone="Europe/Berlin"), site.person("boss", role="admin")
    grace.api().post("/workspaces", json={"name": "Grace Team", "slug": "grace-team"})
    data = {"title": "News for Grace", "message": "x", "channels": ["inapp"]}
    boss.api().post("/admin/notifications", 201, json={"data": data})
    return visitors(boss)


def combobox(page: Page) -> None:
    expect(page.get_by_role("combobox", name="Find a page")).to_be_focused()


@in_cells(WIDE)
def test_palette_opens_pages_and_accounts_by_keyboard(admin: Visitor) -> None:
    admin.open("/dashboard")
    page = admin.page
    page.keyboard.press("Control+k")
    combobox(page)
    options = page.locator("#palette").get_by_role("option")
    expect(options).to_have_count(len(page.locator(".side nav a").all()))
    assert serious_violations(page) == []
    page.keyboard.type("SECURITY")
    chosen = page.get_by_role("option", name="Security")
    expect(chosen).to_have_attribute("aria-selected", "true")
    expect(page.locator("#palette [role=status]")).to_have_text("Results: 1")
    page.keyboard.press("Enter")
    page.wait_for_url("**/security")
    page.get_by_role("button", name="Find", exact=True).click()
    combobox(page)
    page.keyboard.type("GRACE")
    account = page.get_by_role("option", name="grace@example.com")
    expect(account).to_be_visible()
    expect(page.locator("#palette input")).to_have_attribute("aria-activedescendant", "found-1")
    found = [
        "grace@example.com",
        "All results",
        "Grace Team grace-team",
        "grace grace",
        "News for Grace",
    ]
    expect(page.locator("#palette").get_by_role("option")).to_have_text(found)
    assert serious_violations(page) == []
    for name, path, heading in (
        (found[0], "**/admin/accounts/*", "grace"),
        (found[1], "**/admin/accounts?search=GRACE", "Accounts"),
        (found[2], "**/admin/workspaces/*", "Grace Team"),
        (found[4], "**/admin/broadcasts/*", "News for Grace"),
    ):
        if name != found[0]:
            page.keyboard.press("Control+k")
            page.keyboard.type("GRACE")
            for _ in range(found.index(name)):
                expect(page.locator("#palette").get_by_role("option")).to_have_text(found)
                page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.wait_for_url(path)
        expect(page.get_by_role("heading", level=1)).to_contain_text(heading)
        expect(page.get_by_role("heading", level=1)).to_be_focused()
    page.keyboard.press("Control+k")
    page.keyboard.type("zzz")
    expect(page.locator("#palette [role=status]")).to_have_text("Nothing found")
    page.keyboard.press("Escape")
    expect(page.locator("dialog[open]")).to_have_count(0)


@in_cells(WIDE)
def test_arrow_keys_choose_and_wrap(admin: Visitor) -> None:
    admin.open("/dashboard")
    page = admin.page
    page.keyboard.press("Control+k")
    options = page.locator("#palette").get_by_role("option")
    selected = page.locator("[role=option][aria-selected=true]")
    expect(selected).to_have_text("Inbox")
    page.keyboard.press("ArrowDown")
    expect(selected).to_have_text(options.nth(1).inner_text())
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(selected).to_have_text(options.last.inner_text())


@in_cells(WIDE)
def test_single_keys_are_shortcuts_outside_of_fields_and_can_be_turned_off(admin: Visitor) -> None:
    admin.open("/admin/accounts")
    page = admin.page
    page.keyboard.press("/")
    field = page.get_by_role("searchbox", name="Search accounts")
    expect(field).to_be_focused()
    page.keyboard.type("a/b?")
    expect(field).to_have_value("a/b?")
    page.keyboard.press("Control+k")
    expect(page.locator("dialog[open]")).to_have_count(0)
    field.blur()
    page.keyboard.press("?")
    help_dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(help_dialog).to_be_visible()
    assert serious_violations(page) == []
    help_dialog.get_by_label("Use shortcuts of a single key").uncheck()
    page.keyboard.press("Escape")
    page.reload()
    page.keyboard.press("?")
    page.keyboard.press("/")
    page.keyboard.press("Control+k")
    combobox(page)
    page.keyboard.press("Escape")
    page.locator("summary", has_text="Your account").click()
    page.get_by_role("button", name="Keyboard shortcuts").click()
    expect(help_dialog.get_by_label("Use shortcuts of a single key")).not_to_be_checked()


@in_cells(SMALL)
def test_palette_works_on_a_small_screen_from_right_to_left(site: Site, visitors: Visitors) -> None:
    visitor = visitors(site.person("ada"))
    visitor.open("/dashboard")
    page = visitor.page
    # Content may move after an input.
    page.locator("h1").click()
    page.evaluate("document.documentElement.dir = 'rtl'")
    page.locator(".opener > summary").click()
    page.get_by_role("button", name="Find", exact=True).click()
    combobox(page)
    page.keyboard.type("Profile")
    expect(page.locator("#palette").get_by_role("option")).to_have_count(1)
    page.locator("#palette").get_by_role("option").click()
    page.wait_for_url("**/profile")
