"""An admin shows a banner, and a visitor and an account dismiss it, in Chromium."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from ..conftest import only_on
from ..rigs.axe import serious_violations
from ..rigs.console.site import Site, Visitors

pytestmark = only_on("sqlite")
TEXT = "Maintenance on Friday"


def banner(page: Page, text: str = TEXT) -> Locator:
    return page.locator(".banner").filter(has_text=text)


def left_of(element: Locator) -> float:
    left: float = element.evaluate("it => it.getBoundingClientRect().left")
    return left


def test_admin_creates_changes_and_deletes_a_banner(site: Site, visitors: Visitors) -> None:
    visitor = visitors(site.person("boss", role="admin"))
    page = visitor.page
    visitor.open("/admin/banners")
    page.get_by_role("link", name="New banner").click()
    page.get_by_label("Text").fill(TEXT)
    page.get_by_label("Level").select_option("Critical")
    page.locator("[name=audience][value=filtered] + label").click()
    expect(page.get_by_label("Status")).to_be_visible()
    page.locator("[name=audience][value=public] + label").click()
    expect(page.get_by_label("Status")).to_be_hidden()
    page.get_by_label("End").fill("2090-01-01T13:30")
    visitor.settle()
    assert not (serious_violations(page) if visitor.cell.script else [])
    visitor.picture("banner-new")
    page.get_by_role("button", name="Create banner").click()
    expect(page.get_by_text("Banner created.")).to_be_visible()
    expect(page.get_by_role("row", name=TEXT)).to_contain_text("Shown now")
    expect(banner(page).get_by_role("img", name="Critical")).to_be_visible()
    # The banner does not move the end of the navigation out of the window.
    expect(page.locator(".side .account")).to_be_in_viewport(ratio=0.95)
    page.get_by_role("main").get_by_role("link", name=TEXT).click()
    page.get_by_label("Text").fill("Maintenance on Monday")
    page.get_by_role("button", name="Save").click()
    expect(banner(page, "Maintenance on Monday")).to_be_visible()
    page.get_by_role("main").get_by_role("link", name="Maintenance on Monday").click()
    page.get_by_role("main").locator("summary", has_text="Delete banner").click()
    page.get_by_role("button", name="Delete banner").last.click()
    expect(page.get_by_text("Banner deleted.")).to_be_visible()
    expect(banner(page, "Maintenance")).to_have_count(0)


def test_banner_is_dismissed_by_account_and_visitor(site: Site, visitors: Visitors) -> None:
    admin, ada = site.person("boss", role="admin").api(), site.person("ada")
    for text, level in ((TEXT, "warning"), ("Summer party", "info")):
        body = {"text": text, "level": level, "audience": "everyone", "url": "/forgot"}
        admin.post("/admin/banners", 201, json=body)
    her = visitors(ada)
    her.open("/account")
    page, phone = her.page, her.page.get_by_label("Phone")
    expect(page.locator(".banner")).to_have_count(2)
    phone.fill("+441632960961")
    banner(page).get_by_role("button", name="Dismiss").click()
    expect(banner(page)).to_have_count(0)
    if her.cell.script:
        # The rest of the page stays, with its unsaved input.
        expect(phone).to_have_value("+441632960961")
        expect(page.get_by_role("heading", level=1)).to_be_focused()
    banner(page, "Summer").get_by_role("button", name="Dismiss").click()
    expect(page.locator(".banners")).to_be_hidden()
    her.open("/profile")
    expect(page.locator(".banner")).to_have_count(0)

    # A visitor with a language that is written from right to left.
    visitor = visitors(cell=her.cell._replace(locale="ar"))
    page = visitor.page
    visitor.open("/forgot")
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    visitor.settle()
    assert not (serious_violations(page) if visitor.cell.script else [])
    assert page.locator("html").evaluate("it => it.scrollWidth") <= visitor.cell.width
    button = banner(page).get_by_role("button")
    assert left_of(button) < left_of(banner(page).locator("p"))
    visitor.picture("banner-right-to-left")
    button.click()
    expect(banner(page)).to_have_count(0)
    visitor.open("/forgot")
    expect(page.locator(".banner")).to_have_count(1)
    banner(page, "Summer").get_by_role("link").click()
    expect(page).to_have_url(site.base + "/forgot")
    visitor.open("/sign-in")
    expect(page.locator(".banner")).to_have_count(0)
