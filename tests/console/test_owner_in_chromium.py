"""Inbox, profile and account in a real browser."""

from __future__ import annotations

import io
import re

from PIL import Image
from playwright.sync_api import Dialog, FilePayload, expect

from app.frontdesk import Frontdesk
from app.testing.people import Person

from ..rigs.console.cells import WIDE, in_cells
from ..rigs.console.site import Site, Visitors
from ..rigs.console.world import PROFILE
from ..rigs.processes import within


def notify(site: Site, person: Person, *titles: str) -> None:
    with site.app.app_context():
        for title in titles:
            Frontdesk().notify(title, "A message.", receivers=[person.id])


def count_unread(site: Site, person: Person) -> int:
    with site.app.app_context():
        return Frontdesk().inbox.unread(person)


def test_user_reads_marks_deletes_and_restores_messages(site: Site, visitors: Visitors) -> None:
    ada = site.person("ada")
    notify(site, ada, "Apple", "Pear", "Plum")
    her = visitors(ada)
    her.open("/dashboard")
    page = her.page
    expect(page).to_have_title(re.compile(r"^\(3\) Inbox"))
    rows = page.locator("#items > li")
    rows.filter(has_text="Pear").get_by_role("button", name="Mark as read").click()
    expect(
        rows.filter(has_text="Pear").get_by_role("button", name="Mark as unread")
    ).to_be_visible()
    expect(page).to_have_title(re.compile(r"^\(2\) Inbox"))
    rows.filter(has_text="Plum").get_by_role("button", name="Delete").click()
    expect(rows).to_have_count(2)
    page.get_by_role("button", name="Undo").click()
    expect(rows).to_have_count(3)
    expect(rows.first).to_contain_text("Plum")
    rows.first.get_by_role("heading").get_by_role("button").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Plum")
    page.get_by_role("button", name="Mark as unread").click()
    expect(page).to_have_title(re.compile(r"^\(2\) Inbox"))
    page.get_by_role("button", name="Mark all as read").click()
    expect(page.get_by_text("2 messages marked as read.")).to_be_visible()
    expect(page).to_have_title(re.compile(r"^Inbox"))
    # The bar of the selected messages.
    expect(page.get_by_role("button", name="Clear")).to_be_hidden()
    for title in ("Apple", "Plum"):
        page.get_by_role("checkbox", name=f"Select {title}").press("Space")
    if her.cell.script:
        expect(page.get_by_text("2 selected")).to_be_visible()
        # The browser asks before it leaves a page with such a form.
        expect(page.locator("[data-unsaved]")).to_have_count(0)
        rows.filter(has_text="Plum").get_by_role("button", name="Delete").click()
        expect(page.get_by_text("1 selected")).to_be_visible()
    page.locator("#selection").get_by_role("button", name="Delete").click()
    expect(rows).to_have_text([re.compile("Pear")])
    page.get_by_role("button", name="Undo").click()
    expect(rows).to_have_count(2 if her.cell.script else 3)
    page.get_by_label("Sender").select_option(label="Sent by an admin")
    if not her.cell.script:
        page.get_by_role("button", name="Filter").click()
    expect(page.get_by_text("No messages match this filter.")).to_be_visible()
    assert page.url.endswith("?sender=admin")


def test_user_reads_one_message_after_another(site: Site, visitors: Visitors) -> None:
    ada = site.person("ada")
    notify(site, ada, "First", "Second", "Third")
    her = visitors(ada)
    her.open("/dashboard")
    page, heading = her.page, her.page.get_by_role("heading", level=1)
    older, newer = (page.get_by_role("button", name=name) for name in ("Older", "Newer"))
    page.locator("#items").get_by_role("button", name="Second").click()
    expect(heading).to_have_text("Second")
    # On a wide screen, the list stays next to the message.
    expect(page.locator("#items")).to_be_visible(visible=her.cell.width >= 1100)
    page.go_back()
    expect(heading).to_have_text("Inbox")
    page.go_forward()
    older.click()
    expect(heading).to_have_text("First")
    expect(older).to_have_count(0)
    newer.click()
    expect(heading).to_have_text("Second")
    newer.click()
    expect(heading).to_have_text("Third")
    expect(newer).to_have_count(0)
    her.open("/dashboard")
    expect(page).to_have_title(re.compile(r"^Inbox"))


def test_message_opens_its_page_and_is_read(site: Site, visitors: Visitors) -> None:
    ada = site.person("ada")
    with site.app.app_context():
        for title in ("First", "Second"):
            Frontdesk().notify(title, "Look.", url="/account?from=inbox", receivers=[ada.id])
    her = visitors(ada)
    her.open("/dashboard")
    page, rows = her.page, her.page.locator("#items > li")
    link = rows.first.get_by_role("link", name="Unread: Second")
    expect(link).to_have_attribute("rel", "noopener")
    link.click()
    expect(page).to_have_url(re.compile("/account[?]from=inbox$"))
    if her.cell.script:
        # The request that marks the message goes on while the next page is loading.
        within(30, lambda: count_unread(site, ada) == 1)
    her.open("/dashboard")
    if not her.cell.script:
        # Without a script, the user marks the message.
        expect(page).to_have_title(re.compile(r"^\(2\) Inbox"))
        rows.first.get_by_role("button", name="Mark as read").click()
    expect(page).to_have_title(re.compile(r"^\(1\) Inbox"))
    expect(rows.first.get_by_role("button", name="Mark as unread")).to_be_visible()


def test_older_messages_are_loaded(site: Site, visitors: Visitors) -> None:
    ada = site.person("ada")
    notify(site, ada, *(f"Title {number}." for number in range(60)))
    her = visitors(ada)
    her.open("/dashboard")
    rows = her.page.locator("#items > li")
    for count in (50, 60):
        if her.cell.script:
            her.page.locator("#further").scroll_into_view_if_needed()
            expect(rows).to_have_count(count)
        else:
            her.page.get_by_role("link", name="Older messages").click()
    expect(rows.last).to_contain_text("Title 0.")
    expect(her.page.get_by_role("link", name="Older messages")).to_have_count(0)


def test_new_messages_appear_automatically(site: Site, visitors: Visitors) -> None:
    ada = site.person("ada")
    notify(site, ada, "Old")
    her = visitors(ada)
    her.page.clock.install()
    her.open("/dashboard")
    if not her.cell.script:
        return
    rows = her.page.locator("#items > li")
    notify(site, ada, "New", "Newer")
    her.page.mouse.move(1, 1)
    her.page.clock.run_for(21_000)
    expect(rows).to_have_text([re.compile("Newer"), re.compile("New"), re.compile("Old")])
    expect(her.page).to_have_title(re.compile(r"^\(3\) Inbox"))
    expect(her.page.get_by_role("link", name="2 new messages")).to_be_visible()
    # While the list is hovered, new messages wait for a click.
    rows.last.hover()
    notify(site, ada, "Newest")
    her.page.clock.run_for(21_000)
    shown = her.page.get_by_role("link", name="One new message")
    expect(shown).to_be_visible()
    expect(rows).to_have_count(3)
    shown.click()
    expect(rows.first).to_contain_text("Newest")
    # Inserted messages have working forms.
    rows.first.get_by_role("button", name="Delete").click()
    expect(rows).to_have_count(3)


def picture() -> FilePayload:
    """Return a picture that is red on the left and blue on the right."""
    image = Image.new("RGB", (800, 400), "red")
    image.paste("blue", (400, 0, 800, 400))
    file = io.BytesIO()
    image.save(file, "PNG")
    return {"name": "me.png", "mimeType": "image/png", "buffer": file.getvalue()}


def test_picture_is_cropped_and_shown(site: Site, visitors: Visitors) -> None:
    ada = site.person("ada")
    ada.api().post("/profiles", json=PROFILE)
    her = visitors(ada)
    her.open("/profile")
    page = her.page
    page.get_by_label("New picture").set_input_files(files=[picture()])
    if her.cell.script:
        canvas = page.get_by_role("img", name=re.compile("part of the picture"))
        expect(canvas).to_be_visible()
        canvas.focus()
        for _ in range(20):
            page.keyboard.press("ArrowLeft")
    page.get_by_role("button", name="Save picture").click()
    expect(page.get_by_text("Picture saved.")).to_be_visible()
    name = ada.api().get("/profiles").json["avatar"].rpartition("/")[2]
    stored = site.app.test_client().get(f"/api/v1/profiles/avatars/{name}").get_data()
    with Image.open(io.BytesIO(stored)) as image:
        assert image.width == image.height
        left = image.convert("RGB").getpixel((image.width // 4, image.height // 2))
    # Moved to the left, the right half is visible; without JavaScript, the middle.
    assert isinstance(left, tuple)
    assert (left[2] > 200) is her.cell.script
    page.get_by_role("button", name="Remove picture").click()
    expect(page.get_by_text("Picture removed.")).to_be_visible()


def test_profile_form_shows_errors_and_saves(site: Site, visitors: Visitors) -> None:
    ada = site.person("ada")
    her = visitors(ada)
    her.open("/profile")
    page = her.page
    for label, value in (
        ("First name", "Ada"),
        ("Last name", "Lovelace"),
        ("Date of birth", "2999-01-01"),
        ("Gender", "female"),
        ("Marital status", "married"),
    ):
        page.get_by_label(label).fill(value)
    her.faults.expect(422)
    page.get_by_role("button", name="Save profile").click()
    expect(page.get_by_text("Enter a date in the past.")).to_be_visible()
    expect(page.get_by_label("Last name")).to_have_value("Lovelace")
    page.get_by_label("Date of birth").fill("1815-12-10")
    page.get_by_role("button", name="Save profile").click()
    expect(page.get_by_text("Profile saved.")).to_be_visible()


def test_account_is_changed_exported_and_deleted(site: Site, visitors: Visitors) -> None:
    ada = site.person("ada")
    her = visitors(ada)
    her.open("/account")
    page = her.page
    page.get_by_label("Time zone").select_option("Europe/London")
    page.get_by_role("button", name="Save details").click()
    expect(page.get_by_text("Details saved.")).to_be_visible()
    page.get_by_text("Dark", exact=True).click()
    page.get_by_role("button", name="Save appearance").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.get_by_role("button", name="Request export").click()
    expect(page.get_by_text("Your export is being created", exact=True).first).to_be_visible()
    site.engine.deliver()
    if not her.cell.script:
        page.reload()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download export").click()
    assert download.value.suggested_filename.endswith(".zip")
    page.get_by_role("link", name="Delete account").click()
    page.get_by_label("Your password", exact=True).fill(ada.password)
    page.get_by_role("button", name="Delete my account").click()
    expect(page.get_by_text("Your account will be deleted on")).to_be_visible()


def test_form_sent_after_the_session_ended_comes_back(site: Site, visitors: Visitors) -> None:
    ada = site.person("ada")
    her = visitors(ada)
    her.open("/account")
    page = her.page
    page.get_by_label("Phone").fill("+49 30 901820")
    ada.api().delete("/logout")
    page.get_by_role("button", name="Save details").click()
    page.get_by_text("your changes are kept").wait_for()
    her.picture("sign-in-changes-kept")
    page.get_by_label("Email").fill(ada.email)
    page.get_by_label("Password", exact=True).fill(ada.password)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_text("You were signed out before your changes were saved.").wait_for()
    her.picture("account-changes-kept")
    expect(page.get_by_label("Phone")).to_have_value("+49 30 901820")
    page.get_by_role("button", name="Save details").click()
    expect(page.get_by_text("Details saved.")).to_be_visible()


@in_cells(WIDE)
def test_browser_asks_before_unsaved_changes_are_left(site: Site, visitors: Visitors) -> None:
    her = visitors(site.person("ada"))
    page, asked = her.page, list[str]()
    answers = iter((False, True))

    def answer(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.accept() if next(answers) else dialog.dismiss()

    page.on("dialog", answer)
    her.open("/account")
    # Nothing is changed: no question.
    page.get_by_role("link", name="Profile").click()
    page.wait_for_url("**/profile")
    page.get_by_role("link", name="Account", exact=True).click()
    page.wait_for_url("**/account")
    page.get_by_label("Phone").fill("+49 30 901820")
    page.get_by_role("button", name="Save details").click()
    expect(page.get_by_text("Details saved.")).to_be_visible()
    assert asked == []
    page.get_by_label("Phone").fill("+49 30 901821")
    page.get_by_role("link", name="Profile").click(no_wait_after=True)
    page.wait_for_timeout(500)
    assert asked == ["beforeunload"]
    expect(page.get_by_label("Phone")).to_have_value("+49 30 901821")
    page.get_by_role("link", name="Profile").click()
    page.wait_for_url("**/profile")
    assert asked == ["beforeunload"] * 2


@in_cells(WIDE)
def test_console_asks_before_going_back_loses_changes(site: Site, visitors: Visitors) -> None:
    her = visitors(site.person("ada"))
    page, asked = her.page, list[str]()
    answers = iter((False, True))

    def answer(dialog: Dialog) -> None:
        asked.append(dialog.message)
        dialog.accept() if next(answers) else dialog.dismiss()

    page.on("dialog", answer)
    her.open("/profile")
    page.get_by_role("link", name="Account", exact=True).click()
    expect(page.get_by_role("heading", level=1, name="Account")).to_be_focused()
    page.get_by_label("Phone").press_sequentially("+49")
    page.evaluate("history.back()")
    page.wait_for_timeout(300)
    assert asked == ["Leave this page? Your changes are not saved."]
    expect(page).to_have_url(re.compile("/account$"))
    expect(page.get_by_label("Phone")).to_have_value("+49")
    page.get_by_label("Phone").press_sequentially("1")
    page.evaluate("history.back()")
    page.wait_for_url("**/profile")
    assert len(asked) == 2
