"""An admin writes a broadcast to a list in a browser, keeps it as a draft, and sends it."""

from __future__ import annotations

from playwright.sync_api import FilePayload, Route, expect
from sqlalchemy import select

from app.core.context import current_frontdesk
from app.core.db.transaction import transaction
from app.delivery.outbox.models import Delivery

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


def test_search_results_of_recipients_are_in_view(site: Site, visitors: Visitors) -> None:
    people = [site.person(f"ada{number}") for number in range(3)]
    visitor = visitors(site.person("boss", role="admin"))
    page = visitor.page
    visitor.open("/admin/broadcasts/new")
    page.locator("[name=audience][value=chosen] + label").click()
    page.get_by_label("Search accounts").fill("ada")
    page.get_by_label("Search accounts").press("Enter")
    results = page.get_by_text("Search results")
    expect(results).to_be_in_viewport()
    if visitor.cell.script:
        expect(results).to_be_focused()
    page.get_by_label(people[1].email).check()
    page.get_by_role("button", name="Add selected").click()
    expect(page.get_by_text("One account selected")).to_be_visible()
    page.get_by_label("Search accounts").fill("nobody")
    page.get_by_role("button", name="Search", exact=True).click()
    expect(page.get_by_text("No other accounts found.")).to_be_in_viewport()


def test_back_from_the_check_returns_to_the_message(site: Site, visitors: Visitors) -> None:
    visitor = visitors(site.person("boss", role="admin"))
    page = visitor.page
    visitor.open("/admin/broadcasts")
    page.get_by_role("link", name="New broadcast").click()
    page.get_by_label("Title").fill("Closed")
    page.get_by_label("Message", exact=True).fill("On Friday.")
    page.get_by_role("button", name="Review").click()
    expect(page.get_by_role("heading", name="Check the broadcast")).to_be_visible()
    if visitor.cell.script:
        page.evaluate("history.back()")
    else:
        page.go_back()
    expect(page.get_by_role("heading", name="New broadcast")).to_be_visible()
    if not visitor.cell.script:
        # The browser decides what it restores.
        return
    expect(page.get_by_label("Title")).to_have_value("Closed")
    page.get_by_role("button", name="Review").click()
    expect(page.get_by_role("heading", name="Check the broadcast")).to_be_visible()
    expect(page.get_by_text("1 of 1").first).to_be_visible()
    page.get_by_role("button", name="Send now").click()
    expect(page.get_by_role("heading", name="Closed", exact=True)).to_be_visible()


def test_edit_returns_to_the_message_before_and_after_the_count(
    site: Site, visitors: Visitors
) -> None:
    visitor = visitors(site.person("boss", role="admin"))
    page = visitor.page
    # The script requests the count, and its response arrives after “Edit”.
    counts: list[Route] = []
    page.route("**/admin/broadcasts/reach", lambda route: counts.append(route))
    visitor.open("/admin/broadcasts/new")
    page.get_by_label("Title").fill("Closed")
    page.get_by_label("Message", exact=True).fill("On Friday.")
    page.get_by_role("button", name="Review").click()
    expect(page.get_by_text("Counting recipients")).to_be_visible()
    page.get_by_role("button", name="Edit").click()
    expect(page.get_by_role("heading", name="New broadcast")).to_be_visible()
    for count in counts:
        count.continue_()
    page.unroute("**/admin/broadcasts/reach")
    expect(page.get_by_label("Title")).to_have_value("Closed")
    page.get_by_role("button", name="Review").click()
    if not visitor.cell.script:
        page.get_by_role("button", name="Count recipients").click()
    expect(page.get_by_text("1 of 1").first).to_be_visible()
    page.get_by_role("button", name="Edit").click()
    expect(page.get_by_role("heading", name="New broadcast")).to_be_visible()


def test_sender_stops_a_broadcast(site: Site, visitors: Visitors) -> None:
    site.person("ada")
    boss = site.person("boss", role="admin")
    data = {"title": "Closed", "message": "On Friday.", "channels": ["inapp", "email"]}
    sent = boss.api().post("/admin/notifications", 201, json={"data": data}).json
    visitor = visitors(boss)
    page = visitor.page
    visitor.open(f"/admin/broadcasts/{sent['id']}")
    expect(page.get_by_text("2 queued")).to_be_visible()
    page.get_by_text("Stop sending", exact=True).first.click()
    expect(page.get_by_text("Already sent: 0.")).to_be_visible()
    visitor.settle()
    assert not (serious_violations(page) if visitor.cell.script else [])
    page.get_by_role("button", name="Stop sending").click()
    expect(page.get_by_text("Sending is stopped.")).to_be_visible()
    expect(page.get_by_text("Stopped: 0 of 2 were sent")).to_be_visible()
    expect(page.get_by_text("2 skipped (sending stopped)")).to_be_visible()
    site.engine.deliver()
    site.mails.assert_empty()
    page.reload()
    expect(page.get_by_text("Stop sending")).to_have_count(0)


def test_recipients_of_a_failure_are_opened_by_reason(site: Site, visitors: Visitors) -> None:
    people = [site.person(f"ada{number}") for number in range(4)]
    boss = site.person("boss", role="admin")
    data = {"title": "Closed", "message": "On Friday.", "channels": ["inapp", "email"]}
    query = {"account_receiver_ids": [each.id for each in people]}
    sent = boss.api().post("/admin/notifications", 201, json={"data": data, **query}).json
    texts = [
        "550 5.1.1 unknown",
        "550 5.1.1 no such user",
        "552 5.2.2 over quota",
        "552 5.2.2 full",
    ]
    fail(site, [f"receiver: {text}" for text in texts])
    visitor = visitors(boss)
    page = visitor.page
    visitor.open(f"/admin/broadcasts/{sent['id']}")
    expect(page.get_by_role("row")).to_have_count(0)
    page.get_by_role("link", name="Mailbox does not exist").click()
    row = page.get_by_role("row", name=people[0].email)
    expect(row).to_contain_text("550 5.1.1 unknown")
    expect(page.get_by_role("row", name=people[2].email)).to_have_count(0)
    visitor.settle()
    assert not (serious_violations(page) if visitor.cell.script else [])
    page.get_by_role("link", name="Mailbox does not exist").click()
    expect(row).to_have_count(0)


def fail(site: Site, reasons: list[str]) -> None:
    with site.app.app_context(), transaction(session := current_frontdesk.session):
        pending = select(Delivery).where(Delivery.state == "pending").order_by(Delivery.receiver_id)
        for delivery, reason in zip(session.scalars(pending).all(), reasons, strict=True):
            delivery.state, delivery.reason, delivery.attempts = "failed", reason, 1
            delivery.finished_at = current_frontdesk.clock.now()
