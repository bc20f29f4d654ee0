from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from werkzeug.http import parse_options_header

from app.notifications.inbox import Inbox
from app.notifications.schemas import InboxItemRead
from app.testing.client import Api
from app.testing.database import noted_queries

from ..conftest import Person
from ..rigs.cases import for_each
from ..rigs.racing import request, run_concurrently
from .conftest import Notify

Send = Callable[..., int]


@pytest.fixture
def notify(notify: Notify) -> Send:
    """Send a notification and return its id."""

    def send(title: str = "Hello", **more: Any) -> int:
        sent = notify(title, **more)
        assert sent.notification is not None
        return sent.notification.id

    return send


@pytest.fixture
def inbox(ada: Person) -> Api:
    return ada.api()


def test_item_has_all_fields(inbox: Api, ada: Person, bob: Person, notify: Send) -> None:
    notification_id = notify(receivers=[ada.id], sender=bob.id, channels=["inapp", "email"])
    (item,) = inbox.get("/notifications/").json
    assert item.pop("created_at").endswith("+00:00")
    assert item == {
        "id": item["id"],
        "notification_id": notification_id,
        "receiver_id": ada.id,
        "is_read": False,
        "title": "Hello",
        "message": "A message.",
        "channels": ["inapp", "email"],
        "sender_id": bob.id,
        "notification_type": "system",
        "scope": "account",
        "url": None,
        "kind": None,
        "data": None,
        "workspace_id": None,
        "links": {
            "self": f"/api/v1/notifications/{item['id']}",
            "mark": f"/api/v1/notifications/{notification_id}/mark",
            "delete": f"/api/v1/notifications/{item['id']}",
            "open": None,
        },
    }
    assert item.keys() | {"created_at"} == InboxItemRead().dump_fields.keys()


def test_links_of_an_item_lead_to_it(inbox: Api, notify: Send) -> None:
    # After deletions, the id of one item is the notification id of another.
    for number in range(6):
        notify(str(number))
    for item in inbox.get("/notifications").json[:3]:
        inbox.delete(f"/notifications/{item['id']}")
    notify("new")
    here = inbox.as_token(inbox.token)
    here.prefix = ""
    for item in inbox.get("/notifications/").json:
        links, title = item["links"], item["title"]
        assert here.get(links["self"]).json == item
        marked = here.patch(links["mark"] + "?status=true").json
        assert (marked["title"], marked["is_read"], marked["links"]) == (title, True, links)
        assert here.delete(links["delete"]).json["title"] == title
    assert inbox.get("/notifications").json == []


def test_page_links_to_the_next_page(inbox: Api, notify: Send) -> None:
    for number in range(5):
        notify(str(number))
    requested, titles = "/api/v1/notifications?limit=2&is_read=false", []
    here = inbox.as_token(inbox.token)
    here.prefix = ""
    while requested:
        page = here.get(requested)
        titles.append([item["title"] for item in page.json])
        requested = parse_options_header(page.headers.get("Link", ""))[0].strip("<>")
    assert titles == [["4", "3"], ["2", "1"], ["0"]]
    assert page.headers["X-Total-Count"] == "5"


@pytest.mark.parametrize("path", ["/notifications/?limit=2", "/notifications/unread-count"])
def test_unchanged_page_is_a_304(inbox: Api, notify: Send, app: Flask, path: str) -> None:
    for _ in range(4):
        notify()
    tag = inbox.get(path).headers["ETag"]
    with noted_queries(app) as statements:
        unchanged = inbox.get(path, 304, headers={"If-None-Match": tag})
    assert len([each for each in statements if "inbox" in each]) == 1
    assert unchanged.response.data == b""
    assert unchanged.headers["ETag"] == tag
    assert "Content-Type" not in unchanged.headers
    inbox.get(path, 304, headers={"If-None-Match": f'"other", W/{tag}'})
    newest = inbox.get("/notifications").json[0]
    inbox.patch(newest["links"]["mark"].removeprefix("/api/v1"))
    changed = inbox.get(path, headers={"If-None-Match": tag})
    assert changed.headers["ETag"] != tag
    assert changed.headers["Cache-Control"] == "private, no-cache"


def test_page_without_its_next_page_has_changed(inbox: Api, notify: Send) -> None:
    for _ in range(3):
        notify()
    page = inbox.get("/notifications?limit=2")
    oldest = inbox.get("/notifications").json[-1]
    inbox.delete(f"/notifications/{oldest['id']}")
    again = inbox.get("/notifications?limit=2", headers={"If-None-Match": page.headers["ETag"]})
    assert again.json == page.json
    assert "Link" not in again.headers


def test_inbox_is_paginated_newest_first(inbox: Api, notify: Send) -> None:
    for number in range(4):
        notify(str(number))
    titles = [item["title"] for item in inbox.get("/notifications").json]
    assert titles == ["3", "2", "1", "0"]
    page = inbox.get("/notifications", query_string={"offset": 1, "limit": 2}).json
    assert [item["title"] for item in page] == ["2", "1"]


@for_each("query", ["limit=0", "limit=501", "offset=-1", "limit=x", "is_read=perhaps", "limit=1_0"])
def test_query_out_of_bounds_is_rejected(inbox: Api, query: str) -> None:
    assert inbox.get(f"/notifications?{query}", 422).faults == [f"query:{query.split('=')[0]}"]


def test_items_are_filtered_by_read_state(inbox: Api, notify: Send) -> None:
    read, unread = notify("read"), notify("unread")
    inbox.patch(f"/notifications/{read}/mark?status=true")
    assert inbox.get("/notifications/unread-count").json["unread"] == 1
    (item,) = inbox.get("/notifications?is_read=false").json
    assert item["notification_id"] == unread
    (item,) = inbox.get("/notifications?is_read=true").json
    assert item["notification_id"] == read


def test_mark_takes_the_notification_id_and_get_the_item_id(
    inbox: Api, ada: Person, bob: Person, notify: Send
) -> None:
    notify("to both", receivers=[ada.id, bob.id])
    notification_id = notify("to both again")
    item, _ = inbox.get("/notifications").json
    assert item["id"] != notification_id
    assert inbox.patch(f"/notifications/{notification_id}/mark").json["is_read"] is True
    assert inbox.get(f"/notifications/{item['id']}").json["is_read"] is True
    inbox.patch(f"/notifications/{item['id'] + 100}/mark", 404)


def test_mark_sets_or_toggles(inbox: Api, notify: Send) -> None:
    path = f"/notifications/{notify()}/mark"
    for query, expected in [
        ("", True),
        ("", False),
        ("?status=true", True),
        ("?status=true", True),
        ("?status=false", False),
        ("?status=false", False),
    ]:
        assert inbox.patch(path + query).json["is_read"] is expected
    assert inbox.patch(f"{path}?status=perhaps", 422).faults == ["query:status"]


def test_mark_all_sets_or_toggles(inbox: Api, bob: Person, notify: Send) -> None:
    first = notify()
    notify()
    inbox.patch(f"/notifications/{first}/mark?status=true")

    def read() -> list[bool]:
        return [item["is_read"] for item in inbox.get("/notifications").json]

    assert inbox.patch("/notifications/mark-all").json == {"message": "2 notifications marked"}
    assert read() == [True, False]
    assert inbox.patch("/notifications/mark-all?status=true").json == {
        "message": "1 notifications marked"
    }
    assert read() == [True, True]
    inbox.patch("/notifications/mark-all?status=false")
    assert read() == [False, False]
    inbox.patch("/notifications/mark-all?status=x", 422)
    assert bob.api().get("/notifications/unread-count").json["unread"] == 2


def test_other_accounts_items_are_not_found(inbox: Api, bob: Person, notify: Send) -> None:
    notification_id = notify(receivers=[bob.id])
    (item,) = bob.api().get("/notifications").json
    for response in (
        inbox.get(f"/notifications/{item['id']}", 404),
        inbox.delete(f"/notifications/{item['id']}", 404),
        inbox.patch(f"/notifications/{notification_id}/mark", 404),
    ):
        assert response.detail == "Notification not found"
    inbox.patch("/notifications/mark-all?status=true")
    assert bob.api().get("/notifications/unread-count").json["unread"] == 1


@for_each("item_id", ["0", "-1", "9223372036854775808", "9" * 40])
def test_unknown_item_is_not_found(inbox: Api, item_id: str) -> None:
    assert inbox.get(f"/notifications/{item_id}", 404).detail == "Notification not found"
    inbox.patch(f"/notifications/{item_id}/mark", 404)
    inbox.delete(f"/notifications/{item_id}", 404)


def test_deletion_removes_only_the_receivers_copy(inbox: Api, bob: Person, notify: Send) -> None:
    notify()
    (item,) = inbox.get("/notifications").json
    assert inbox.delete(f"/notifications/{item['id']}").json == item
    assert inbox.get("/notifications").json == []
    inbox.delete(f"/notifications/{item['id']}", 404)
    assert len(bob.api().get("/notifications").json) == 1


def test_only_one_concurrent_deletion_succeeds(inbox: Api, notify: Send) -> None:
    notify()
    (item,) = inbox.get("/notifications").json
    delete = request(inbox, "DELETE", f"/notifications/{item['id']}")
    assert run_concurrently(*[delete] * 6) == [200] + [404] * 5


def test_inactive_account_is_rejected(ada: Person, api: Api) -> None:
    token = ada.api()
    ada.change(status="inactive")
    assert token.get("/notifications", 401).detail == "The account is inactive"
    api.get("/notifications", 401)
    api.patch("/notifications/mark-all", 401)


@pytest.mark.parametrize(
    ("method", "path", "most"),
    [
        ("GET", "/notifications", 1),
        ("GET", "/notifications/unread-count", 1),
        ("PATCH", "/notifications/mark-all", 1),
    ],
)
def test_number_of_statements_of_each_route(
    inbox: Api, app: Flask, notify: Send, method: str, path: str, most: int
) -> None:
    for _ in range(5):
        notify()
    inbox.get("/account")
    with noted_queries(app) as statements:
        inbox.send(method, path, 200)
    assert len([each for each in statements if "inbox" in each]) == most, statements


@pytest.mark.parametrize("is_read", [None, True, False])
def test_pages_before_and_after_an_item(
    app: Flask, ada: Person, inbox: Api, notify: Send, is_read: bool | None
) -> None:
    """Other items may be deleted, and the cost does not grow with the number of items."""
    for number in range(8):
        notify(str(number))
    listed = inbox.get("/notifications").json
    for item in listed[::2]:
        inbox.patch(f"/notifications/{item['notification_id']}/mark?status=true")
    listed = [
        item["id"]
        for item in inbox.get("/notifications").json
        if is_read is None or item["is_read"] is is_read
    ]
    with app.app_context():
        service = app.extensions["frontdesk"].services[Inbox]
        below = service.page(ada.id, before=listed[1], limit=2, is_read=is_read)
        assert [item["id"] for item in below] == listed[2:4]
        above = service.page(ada.id, after=listed[2], limit=9, is_read=is_read)
        assert [item["id"] for item in above] == listed[:2]
        service.delete(ada.id, listed[1])
        again = service.page(ada.id, before=listed[1], limit=2, is_read=is_read)
        assert [item["id"] for item in again] == listed[2:4]
    with noted_queries(app) as noted, app.app_context():
        service.page(ada.id, before=listed[2], limit=2, is_read=is_read)
    (statement,) = noted
    assert "frontdesk_inbox.id < " in statement
