"""An admin writes a broadcast to a list in a browser, keeps it as a draft, and sends it."""

from __future__ import annotations

from playwright.sync_api import FilePayload, expect

from ..conftest import only_on
from ..rigs.axe import serious_violations
from ..rigs.console.site import Site, Visitors

pytestmark = only_on("sqlite")


def test_list_is_checked_kept_as_a_draft_and_sent(site: Site, visitors: Visitors) -> None:
    ada, bob = site.person("ada"), site.person("bob")
    visitor = visitors(site.person("boss", role="admin"))
    page = visitor.page
    visitor.open("/admin/broadcasts/new")
    expect(page.get_by_label("Status")).to_be_visible()
    page.get_by_label("Title").fill("Hello {{ first_name|you }}")
    page.get_by_label("Message", exact=True).fill("We moved.")
    page.locator("[name=audience][value=list] + label").click()
    expect(page.get_by_label("Status")).to_be_hidden()
    page.get_by_label("List", exact=True).and_(page.get_by_role("textbox")).fill(
        f"{ada.email}\nmissing@example.com"
    )
    table = f"name,email\nBob,{bob.email}\n".encode()
    file = FilePayload(name="people.csv", mimeType="text/csv", buffer=table)
    page.get_by_label("File").set_input_files(file)
    page.get_by_role("button", name="Review").click()

    expect(page.get_by_role("heading", name="Check the broadcast")).to_be_visible()
    expect(page.get_by_text("Hello you").first).to_be_visible()
    expect(page.get_by_role("row", name="missing@example.com")).to_contain_text("No account")
    expect(page.get_by_text("2 selected accounts")).to_be_visible()
    visitor.settle()
    assert not (serious_violations(page) if visitor.cell.script else [])
    visitor.picture("broadcast-check")
    page.get_by_text("Save these recipients as a segment").click()
    page.get_by_label("Name of the segment").fill("Movers")
    page.get_by_role("button", name="Save segment").click()
    expect(page.get_by_text("Segment “Movers” saved.")).to_be_visible()
    page.get_by_role("button", name="Save draft").click()
    expect(page.get_by_text("Draft saved.")).to_be_visible()

    visitor.open("/admin/broadcasts")
    page.get_by_role("link", name="Hello {{ first_name|you }}").click()
    page.locator("[name=audience][value=segment] + label").click()
    page.get_by_role("combobox", name="Segment").select_option("Movers")
    page.get_by_role("button", name="Review").click()
    expect(page.get_by_text("2 of 2").first).to_be_visible()
    page.get_by_role("button", name="Send now").click()
    expect(page.get_by_text("2 queued")).to_be_visible()
    site.engine.deliver()
    assert ada.api().get("/notifications/").json[0]["title"] == "Hello you"
    visitor.open("/admin/broadcasts")
    expect(page.get_by_text("Drafts")).to_have_count(0)
