"""The script of every page, tested on the design page."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from ..conftest import only_on
from ..rigs.console.cells import SMALL, WIDE, Cell, in_cells
from ..rigs.console.site import Site, Visitor, Visitors

# These tests do not use the database.
pytestmark = only_on("sqlite")
SCRIPTED = in_cells(WIDE, SMALL)
EITHER = in_cells(WIDE, Cell(360, False, "dark"))


@pytest.fixture
def visitor(visitors: Visitors) -> Visitor:
    visitor = visitors()
    visitor.open("/design")
    return visitor


@pytest.fixture
def page(visitor: Visitor) -> Page:
    return visitor.page


@EITHER
def test_confirmation_works_with_and_without_javascript(page: Page, cell: Cell) -> None:
    opener = page.get_by_text("Delete account")
    opener.click()
    expect(page.get_by_role("heading", name="Delete this account?")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(1 if cell.script else 0)
    if cell.script:
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(page.locator("summary", has_text="Delete account")).to_be_focused()


@SCRIPTED
def test_canceled_confirmation_returns_the_focus(page: Page) -> None:
    page.get_by_text("Delete account").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator("summary", has_text="Delete account")).to_be_focused()


@SCRIPTED
def test_menu_closes_on_escape_and_outside_clicks(page: Page) -> None:
    opener = page.locator("summary[aria-label='Actions for ada@example.com']")
    menu = page.locator("details.menu[open]")
    opener.click()
    expect(menu).to_have_count(1)
    page.keyboard.press("Escape")
    expect(menu).to_have_count(0)
    expect(opener).to_be_focused()
    opener.click()
    page.get_by_role("heading", name="Tables").click()
    expect(menu).to_have_count(0)


@in_cells(WIDE)
def test_arrow_keys_open_a_menu_and_move_between_its_items(page: Page) -> None:
    page.locator("summary[aria-label='Actions for ada@example.com']").focus()
    items = page.locator("details.menu[open] .item")
    for key, name in (
        ("ArrowDown", "Open"),
        ("ArrowDown", "Reset password"),
        ("End", "Suspend"),
        ("ArrowDown", "Open"),
        ("ArrowUp", "Suspend"),
        ("Home", "Open"),
    ):
        page.keyboard.press(key)
        expect(items.filter(has_text=name)).to_be_focused()
    page.keyboard.press("Escape")
    expect(items).to_have_count(0)


@SCRIPTED
def test_times_are_shown_in_the_browser_time_zone(page: Page) -> None:
    time = page.locator("dt:text-is('Signed in') + dd time")
    written = time.get_attribute("datetime")
    there = page.evaluate(
        "(at) => new Date(at).toLocaleTimeString('en-GB', {hour: '2-digit', minute: '2-digit',"
        " timeZone: 'Europe/Berlin'})",
        written,
    )
    expect(time).to_contain_text(there)


@in_cells(WIDE, Cell(360, False, "dark"))
def test_server_knows_the_time_zone_of_the_browser(
    site: Site, visitors: Visitors, cell: Cell
) -> None:
    ada, visitor = site.person("ada"), visitors()
    visitor.open("/sign-in")
    visitor.sign_in(ada)
    visitor.open("/account")
    page, button = visitor.page, visitor.page.get_by_role("button", name="Use Europe/Berlin")
    expect(button).to_have_count(1 if cell.script else 0)
    if not cell.script:
        expect(page.locator("time").first).to_contain_text("UTC")
        return
    [cookie] = [each for each in page.context.cookies() if "zone" in each["name"]]
    assert (cookie["name"], cookie["value"]) == ("__Host-fd-zone", "Europe/Berlin")
    assert (cookie["secure"], cookie["path"], cookie["sameSite"]) == (True, "/", "Lax")
    button.click()
    expect(page.get_by_text("Details saved.")).to_be_visible()
    expect(button).to_have_count(0)
    expect(page.get_by_label("Time zone")).to_have_value("Europe/Berlin")


@in_cells(WIDE)
def test_time_is_the_same_with_and_without_script(site: Site, visitors: Visitors) -> None:
    ada = site.person("ada", time_zone="America/New_York")
    texts = []
    for cell in (WIDE, Cell(1280, False, "light")):
        visitor = visitors(ada, cell=cell)
        visitor.open("/security/sessions")
        texts.append(visitor.page.locator("time:not([data-style])").last.inner_text())
    with_script, without = texts
    assert with_script == without
    assert re.fullmatch(r"\d+ [A-Z][a-z]{2} \d{4}, \d\d:\d\d", without)


@SCRIPTED
def test_password_can_be_shown(page: Page) -> None:
    field = page.locator("#good-password")
    field.fill("something long")
    button = page.locator("[aria-controls=good-password]")
    button.click()
    expect(field).to_have_attribute("type", "text")
    button.click()
    expect(field).to_have_attribute("type", "password")


@SCRIPTED
def test_chosen_color_scheme_is_kept(visitor: Visitor, cell: Cell) -> None:
    other = "dark" if cell.theme == "light" else "light"
    visitor.page.get_by_role("button", name="Light or dark").click()
    visitor.open("/sign-in")
    expect(visitor.page.locator("html")).to_have_attribute("data-theme", other)
    [cookie] = [each for each in visitor.page.context.cookies() if "theme" in each["name"]]
    assert (cookie["name"], cookie["value"]) == ("__Host-fd-theme", other)
    assert (cookie["secure"], cookie["httpOnly"], cookie["path"]) == (True, False, "/")


@SCRIPTED
def test_link_moves_the_focus_to_the_next_page(visitor: Visitor) -> None:
    visitor.open("/sign-in")
    page = visitor.page
    page.evaluate("window.stayed = true")
    page.get_by_role("button", name="Forgot").click()
    page.wait_for_url("**/forgot**")
    expect(page.locator("h1, input").and_(page.locator(":focus"))).to_have_count(1)
    assert page.evaluate("window.stayed"), "the page was loaded again"


@SCRIPTED
def test_form_is_submitted_once(visitor: Visitor) -> None:
    visitor.open("/sign-in")
    page = visitor.page
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.method))
    page.get_by_label("Email").fill("unknown@example.com")
    page.locator("[name=password]").fill("not the password")
    page.evaluate(
        "() => { const form = document.querySelector('form:has([name=password])');"
        " form.requestSubmit(); form.requestSubmit(); }"
    )
    expect(page.get_by_role("alert").first).to_be_visible()
    assert sent.count("POST") == 1
