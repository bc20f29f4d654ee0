"""The first start in a browser: from the link that the server prints to the first steps."""

from __future__ import annotations

from playwright.sync_api import expect

from app.console.first_run.first_root import FirstRoot
from app.core.context import current_frontdesk

from ..conftest import PASSWORD, only_on
from ..rigs.console.site import Site, Visitor, Visitors

pytestmark = only_on("sqlite")


def open_link(site: Site, visitor: Visitor) -> None:
    with site.app.app_context():
        token = FirstRoot(current_frontdesk).token()
    visitor.open(f"/first-root?token={token}")


def test_first_root_lands_on_the_first_steps(site: Site, visitors: Visitors) -> None:
    visitor = visitors()
    open_link(site, visitor)
    page = visitor.page
    page.get_by_label("Email").fill("root@example.com")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.locator("main form button:not([type=button])").click()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    steps = page.get_by_role("listitem")
    expect(steps.filter(has_text="Second admin")).to_contain_text("To do")
    visitor.picture("first-steps")

    steps.filter(has_text="Second admin").get_by_role("link", name="New account").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("New account")
    site.person("grace", role="admin")
    visitor.open("/admin")
    expect(steps.filter(has_text="Second admin")).to_contain_text("Done")

    page.get_by_role("button", name="Hide").click()
    expect(page.get_by_text("Set up your service")).to_have_count(0)
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
