"""The inbox on the dashboard."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from app.core.context import service
from app.frontdesk import Frontdesk
from app.testing.clock import SteppingClock
from app.testing.database import noted_queries
from app.workspaces.service import Workspaces

from ..conftest import MakePerson, Person
from ..rigs.cookie_browsers import HOST
from .page_reader import PageReader, hidden_fields, notice_of, visible_text

Notify = Callable[..., int]


@pytest.fixture
def notify(app: Flask, ada: Person) -> Notify:
    """Send a notification to ada only, and return its id."""

    def send(title: str = "Hello", message: str = "A message.", **more: Any) -> int:
        with app.app_context():
            sent = Frontdesk().notify(title, message, **{"receivers": [ada.id], **more})
            assert sent.notification is not None
            return sent.notification.id

    return send


@pytest.fixture
def reader(app: Flask, ada: Person) -> PageReader:
    return PageReader(app, ada)


def items_of(ada: Person) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ada.api().get("/notifications").json
    return found


def titles(text: str) -> list[str]:
    found = re.findall(r'(?s)<h2\b.*?class="through".*?</h2>', text)
    return [visible_text(each).removeprefix("Unread: ") for each in found]


def test_inbox_shows_messages_and_the_unread_count(reader: PageReader, notify: Notify) -> None:
    for number in range(3):
        notify(f"Title {number}")
    text = reader.get("/dashboard")
    assert titles(text) == ["Title 2", "Title 1", "Title 0"]
    assert "<title>(3) Inbox" in text
    assert '<span class="count">3</span>' in text


def test_empty_inbox_explains_what_appears_there(reader: PageReader, notify: Notify) -> None:
    assert "No messages yet" in visible_text(reader.get("/dashboard"))
    notify()
    reader.send("/dashboard/mark-all")
    text = reader.get("/dashboard?show=unread")
    assert "All messages read" in visible_text(text)
    assert titles(text) == []
    assert "<title>Inbox" in text


def test_message_is_escaped_and_urls_become_links(reader: PageReader, notify: Notify) -> None:
    notify("<b>Bold</b>", "<img src=x> See https://example.com/a?b=1&c=2. javascript:alert(1)")
    text = reader.get("/dashboard")
    assert "<b>Bold" not in text
    assert "<img src=x" not in text
    assert re.findall(r'href="(https?:[^"]*)"', text) == ["https://example.com/a?b=1&amp;c=2"]
    assert 'href="javascript' not in text


def test_message_with_a_url_links_to_its_page(
    app: Flask, reader: PageReader, notify: Notify, ada: Person
) -> None:
    slug = ada.api().post("/workspaces", json={"name": "Shop"}).json["slug"]
    with app.app_context():
        workspace = service(Workspaces).get(slug)
    notification = notify(
        "Shipped", url="/orders/7?a=1&b=2", kind="announcements", workspace=workspace
    )
    notify("Other", url="https://example.com/")
    (_other, item) = items_of(ada)
    row = reader.get("/dashboard?kind=announcements")
    assert titles(row) == ["Shipped"]
    assert 'href="/orders/7?a=1&amp;b=2" rel="noopener"' in row
    assert f'action="/dashboard/{notification}/mark"' in row
    assert "Announcements" in visible_text(row)
    assert titles(reader.get(f"/dashboard?workspace={slug}&show=unread")) == ["Shipped"]
    assert titles(reader.get("/dashboard?workspace=unknown")) == []
    assert items_of(ada)[1]["is_read"] is False
    page = reader.get(f"/dashboard/{item['id']}")
    assert 'href="/orders/7?a=1&amp;b=2" rel="noopener"' in page
    assert "Shop" in visible_text(page)


def test_long_message_is_truncated_between_words(
    reader: PageReader, notify: Notify, ada: Person
) -> None:
    long = "word " * 100 + "https://example.com/at-the-end"
    notify(message=long)
    text = visible_text(reader.get("/dashboard"))
    assert "word…" in text
    assert "at-the-end" not in text
    (item,) = items_of(ada)
    assert "https://example.com/at-the-end" in visible_text(reader.get(f"/dashboard/{item['id']}"))


def test_opening_a_message_marks_it_as_read(
    reader: PageReader, notify: Notify, ada: Person
) -> None:
    notification = notify("Title")
    (item,) = items_of(ada)
    reader.get("/dashboard")
    reader.get(f"/dashboard/{item['id']}")
    assert items_of(ada)[0]["is_read"] is False
    text = reader.send(f"/dashboard/{notification}/open")
    assert reader.here == f"/dashboard/{item['id']}"
    assert "Mark as unread" in visible_text(text)
    assert items_of(ada)[0]["is_read"] is True


def test_marking_a_message_returns_to_the_same_list(
    reader: PageReader, notify: Notify, ada: Person
) -> None:
    notification = notify()
    reader.get("/dashboard?show=unread")
    reader.send(f"/dashboard/{notification}/mark", status="true")
    assert reader.here == "/dashboard?show=unread"
    assert items_of(ada)[0]["is_read"] is True
    reader.send(f"/dashboard/{notification}/mark", status="false")
    assert items_of(ada)[0]["is_read"] is False


def test_all_messages_are_marked_at_once(reader: PageReader, notify: Notify, ada: Person) -> None:
    for _ in range(3):
        notify()
    assert notice_of(reader.send("/dashboard/mark-all")) == "3 messages marked as read."
    assert all(item["is_read"] for item in items_of(ada))


def test_deletion_can_be_undone(reader: PageReader, notify: Notify, ada: Person) -> None:
    notify("First")
    notify("Second")
    before = items_of(ada)
    reader.get("/dashboard")
    text = reader.send(f"/dashboard/{before[1]['id']}/delete")
    assert notice_of(text) == "Message deleted."
    assert titles(text) == ["Second"]
    undo = hidden_fields(text, "/dashboard/restore")
    text = reader.send("/dashboard/restore", **undo)
    assert notice_of(text) == "Message restored."
    assert items_of(ada) == before
    assert (
        notice_of(reader.send("/dashboard/restore", **undo)) == "The message is already restored."
    )
    assert items_of(ada) == before


def test_selected_messages_are_marked_and_deleted_together(
    app: Flask, reader: PageReader, notify: Notify, ada: Person, person: MakePerson
) -> None:
    bob = person("bob")
    for number in range(30):
        notify(f"Title {number}", receivers=[ada.id, bob.id])
    before = items_of(ada)
    (other, *_) = bob.api().get("/notifications").json
    # Another account's message is among the ids, a message that does not exist, and one twice.
    ids = [*(item["id"] for item in before[3:]), before[3]["id"], other["id"], 10**15]
    text = reader.get("/dashboard?sender=system")
    assert text.count('<input type="checkbox" form="selection" name="item"') == 25
    counted = []
    for some in (ids[:1], ids):
        with noted_queries(app) as noted:
            reader.post("/dashboard/selected/mark", data={"item": some})
        counted.append(len(noted))
    assert counted[0] == counted[1]
    assert [item["is_read"] for item in items_of(ada)] == [False] * 3 + [True] * 27
    back = {"next": "/dashboard?sender=system"}
    text = reader.send("/dashboard/selected/delete", item=ids, **back)
    assert reader.here == "/dashboard?sender=system"
    assert notice_of(text) == "27 messages deleted."
    assert titles(text) == ["Title 29", "Title 28", "Title 27"]
    undo = hidden_fields(text, "/dashboard/restore")
    text = reader.send("/dashboard/selected/delete", item=ids)
    assert notice_of(text) == "0 messages deleted."
    assert 'action="/dashboard/restore"' not in text
    assert notice_of(reader.send("/dashboard/restore", **undo)) == "27 messages restored."
    assert [item["id"] for item in items_of(ada)] == [item["id"] for item in before]
    assert len(bob.api().get("/notifications").json) == 30


@pytest.mark.parametrize("action", ["mark", "delete"])
def test_invalid_selection_changes_nothing(
    reader: PageReader, notify: Notify, ada: Person, action: str
) -> None:
    notify()
    before = items_of(ada)
    path = f"/dashboard/selected/{action}"
    for wrong in ("x", "1.5", "-1", str(2**63), "\x00", "1_0"):
        reader.send_rejected(path, 422, item=[before[0]["id"], wrong])
    reader.send_rejected(path, 422, item=range(1, 1_002))
    assert reader.send(path).count("Hello")
    assert items_of(ada) == before


def test_messages_are_filtered_by_kind_and_sender(
    reader: PageReader, notify: Notify, person: MakePerson
) -> None:
    root = person("root", role="root")
    notify("Closed", sender=root.id, notification_type="admin", kind="announcements")
    notify("Moved", sender=root.id, notification_type="admin")
    notify("Shipped")
    for query, found, chosen in (
        ("", ["Shipped", "Moved", "Closed"], []),
        ("&sender=admin", ["Moved", "Closed"], ["admin"]),
        ("&sender=system", ["Shipped"], ["system"]),
        ("&sender=admin&kind=announcements", ["Closed"], ["announcements", "admin"]),
        ("&sender=unknown", [], []),
        ("&kind=no-longer-declared", [], ["no-longer-declared"]),
    ):
        text = reader.get(f"/dashboard?show=unread{query}")
        assert titles(text) == found
        assert re.findall(r'<option value="([^"]+)" selected', text) == chosen
        assert ("No messages match this filter" in text) is (not found)
    # Empty choices do not stay in the address, also without a script.
    answer = reader.ask("GET", "/dashboard?kind=&sender=system", 303)
    assert answer.headers["Location"].endswith("/dashboard?sender=system")
    # Emails about the account are in no inbox.
    assert 'value="account"' not in text


def test_message_is_next_to_its_list(
    app: Flask, reader: PageReader, notify: Notify, ada: Person, person: MakePerson
) -> None:
    root = person("root", role="root")
    for number in range(40):
        admin = {"sender": root.id, "notification_type": "admin"} if number % 2 else {}
        notify(f"Title {number}", **admin)
    items = items_of(ada)
    path, query = f"/dashboard/{items[4]['id']}", "show=unread&sender=system"
    text = reader.get(path)
    assert titles(text) == [f"Title {39 - number}" for number in range(25)]
    (row,) = re.findall(r'<li id="item-(\d+)"[^>]* aria-current="true"', text)
    assert row == str(items[4]["id"])
    assert "Sent by an admin" in visible_text(text)
    counted = []
    for each in (path, f"{path}?{query}"):
        with noted_queries(app) as noted:
            reader.get(each)
        counted.append(len(noted))
    # Of the inbox page, and two for the message and the messages next to it.
    assert counted == [7, 7]
    # The list of an older message begins with it.
    assert titles(reader.get(f"/dashboard/{items[30]['id']}"))[0] == items[30]["title"]
    # All forms keep the list.
    text = reader.get(f"/dashboard/{items[5]['id']}?{query}")
    assert titles(text)[0] == "Title 38"
    (action,) = re.findall(r'action="([^"]*)"[^>]*>\s*<button[^>]*id="older_item"', text)
    older = html.unescape(action)
    text = reader.send(older)
    assert reader.here.partition("?")[2] == older.partition("?")[2]
    assert "<title>Title 32" in text


def test_deletion_opens_the_next_message_that_exists(
    reader: PageReader, notify: Notify, ada: Person
) -> None:
    first, _second, third = (notify(title) for title in ("First", "Second", "Third"))
    ids = [item["id"] for item in items_of(ada)]
    reader.get(f"/dashboard/{ids[1]}")
    for wrong in ("x", "-1", str(2**63)):
        reader.send_rejected(f"/dashboard/{ids[1]}/delete", 422, then=wrong)
    text = reader.send(f"/dashboard/{ids[1]}/delete?show=unread", then=first)
    assert reader.here == f"/dashboard/{ids[2]}?show=unread"
    assert notice_of(text) == "Message deleted."
    assert [item["is_read"] for item in items_of(ada)] == [False, True]
    reader.send("/dashboard/restore", **hidden_fields(text, "/dashboard/restore"))
    assert len(items_of(ada)) == 3
    reader.send(f"/dashboard/{ids[0]}/delete", then=third, next="/dashboard?show=unread")
    assert reader.here == "/dashboard?show=unread"


def test_undo_is_limited_to_the_owner_and_to_some_minutes(
    app: Flask,
    reader: PageReader,
    notify: Notify,
    ada: Person,
    person: MakePerson,
    clock: SteppingClock,
) -> None:
    notify()
    (item,) = items_of(ada)
    text = reader.send(f"/dashboard/{item['id']}/delete")
    undo = hidden_fields(text, "/dashboard/restore")
    other = PageReader(app, person("bob"))
    assert notice_of(other.send("/dashboard/restore", **undo)) == "The message does not exist."
    clock.step(minutes=11)
    assert notice_of(reader.send("/dashboard/restore", **undo)) == "This can no longer be undone."
    assert items_of(ada) == []
    assert notice_of(reader.send("/dashboard/restore")) == "This can no longer be undone."


def test_script_gets_only_the_changed_part(reader: PageReader, notify: Notify, ada: Person) -> None:
    notification = notify()
    (item,) = items_of(ada)
    part = {"HX-Request": "true"}
    marked = reader.post(
        f"/dashboard/{notification}/mark", 200, data={"status": "true"}, headers=part
    )
    assert marked.headers["HX-Trigger"] == '{"fd:unread":0}'
    assert marked.get_data(as_text=True).strip().startswith(f'<li id="item-{item["id"]}"')
    gone = reader.post(f"/dashboard/{item['id']}/delete", 200, headers=part)
    text = gone.get_data(as_text=True)
    assert text.strip().startswith('<div class="toasts"')
    assert "hx-swap-oob" in text
    assert "statement" in hidden_fields(text, "/dashboard/restore")


def test_older_pages_contain_all_messages(reader: PageReader, notify: Notify) -> None:
    for number in range(60):
        notify(f"Title {number}")
    text, found = reader.get("/dashboard"), []
    while True:
        found += titles(text)
        link = re.search(r'href="(/dashboard\?before=\d+)"', text)
        if not link:
            break
        part = re.search(r'hx-get="(/dashboard/older\?before=\d+)"', text)
        assert part
        text = reader.get(link[1])
        assert titles(reader.get(part[1])) == titles(text)
    assert found == [f"Title {number}" for number in reversed(range(60))]


def test_older_pages_take_the_same_number_of_queries(
    app: Flask, reader: PageReader, notify: Notify, ada: Person
) -> None:
    for _ in range(30):
        notify()
    last = items_of(ada)[-3]["id"]
    counted = []
    for path in ("/dashboard", f"/dashboard?before={last}", f"/dashboard/older?before={last}"):
        reader.get(path)
        with noted_queries(app) as noted:
            reader.get(path)
        counted.append(len(noted))
    # The caller, the unread count, the messages, the name of the caller, and the banners.
    assert counted == [5, 5, 2]


def test_polling_takes_three_queries_and_returns_304(
    app: Flask, reader: PageReader, notify: Notify, ada: Person
) -> None:
    notify("Old")
    (old,) = items_of(ada)
    path = f"/dashboard/new?show=all&after={old['id']}"
    first = reader.ask("GET", path, 200)
    assert titles(first.get_data(as_text=True)) == []
    tag = {"If-None-Match": first.headers["ETag"]}
    with noted_queries(app) as noted:
        answer = reader.ask("GET", path, 304, headers=tag)
    assert answer.get_data() == b""
    # One of them is for the caller.
    assert len(noted) == 3
    notify("New")
    notify("Newer")
    text = reader.ask("GET", path, 200, headers=tag).get_data(as_text=True)
    assert titles(text) == ["Newer", "New"]
    assert "2 new messages" in visible_text(text)
    assert 'data-unread="3"' in text


def test_more_new_messages_than_a_page_need_a_reload(reader: PageReader, notify: Notify) -> None:
    for _ in range(26):
        notify()
    text = reader.get("/dashboard/new?show=all&after=0")
    assert "More than 25 new messages" in visible_text(text)
    assert titles(text) == []


@pytest.mark.parametrize("query", ["show=some", "before=x", "before=-1", "before=1&before=2"])
def test_invalid_query_is_rejected_with_a_page(reader: PageReader, query: str) -> None:
    assert "422" in visible_text(reader.get(f"/dashboard?{query}", status=422))


def test_message_of_another_account_is_not_found(
    app: Flask, notify: Notify, ada: Person, person: MakePerson
) -> None:
    notification = notify()
    (item,) = items_of(ada)
    other = PageReader(app, person("bob"))
    other.get(f"/dashboard/{item['id']}", status=404)
    other.send_rejected(f"/dashboard/{notification}/open", 404)
    other.send_rejected(f"/dashboard/{notification}/mark", 404, status="true")
    other.send_rejected(f"/dashboard/{item['id']}/delete", 404)
    assert items_of(ada) == [item]


@pytest.mark.parametrize(
    "path", ["/dashboard", "/dashboard/1", "/dashboard/older?before=3", "/dashboard/new?after=0"]
)
def test_anonymous_visitor_is_redirected_to_sign_in(app: Flask, path: str) -> None:
    answer = PageReader(app).ask("GET", path, 303)
    assert answer.headers["Location"].startswith("/sign-in?next=/dashboard")


@pytest.mark.parametrize("action", ["1/open", "1/mark", "selected/delete", "mark-all", "restore"])
def test_forms_redirect_anonymous_visitors_to_sign_in(app: Flask, action: str) -> None:
    answer = PageReader(app).post(f"/dashboard/{action}")
    assert answer.headers["Location"].startswith("/sign-in")


def test_error_of_a_part_replaces_the_page(reader: PageReader) -> None:
    part = {"HX-Request": "true"}
    answer = reader.post("/dashboard/999/delete", 404, headers=part)
    assert answer.headers["HX-Retarget"] == "body"
    assert "HX-Retarget" not in reader.post("/dashboard/999/delete", 404).headers


def test_expired_session_returns_to_the_page_not_to_the_part(app: Flask) -> None:
    reader = PageReader(app)
    reader.here = "/dashboard?show=unread"
    headers = {"HX-Request": "true", "Referer": HOST + reader.here}
    answer = reader.ask("GET", "/dashboard/older?before=3", 401, headers=headers)
    assert answer.headers["HX-Redirect"] == "/sign-in?next=/dashboard?show%3Dunread"
