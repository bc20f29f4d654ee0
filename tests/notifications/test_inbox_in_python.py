"""`frontdesk.inbox` returns and changes the items that the routes show."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from app import Frontdesk
from app.blueprints import notifications
from app.core.errors import NotFound
from app.testing.people import Person, make_person

from ..rigs.hosts import host_with

frontdesk = Frontdesk()


@pytest.fixture
def host() -> Flask:
    return host_with((notifications, "/inbox"), frontdesk=frontdesk)


@pytest.fixture
def ada(host: Flask) -> Person:
    ada, bob = make_person(host, "ada"), make_person(host, "bob")
    with host.app_context():
        frontdesk.notify("For Bob", "Hello", receivers=[bob.id])
        for title in ("First", "Second", "Third"):
            frontdesk.notify(title, "Hello", receivers=[ada.id])
    return ada


def over_http(ada: Person, query: str = "") -> list[dict[str, Any]]:
    items = ada.api().get(f"/inbox/{query}").json
    return [{name: value for name, value in item.items() if name != "links"} for item in items]


def test_pages_have_the_items_of_the_api(host: Flask, ada: Person) -> None:
    with host.app_context():
        account, inbox = frontdesk.accounts.get(ada.email), frontdesk.inbox
        items = inbox.page(account)
        assert [item["title"] for item in items] == ["Third", "Second", "First"]
        assert [list(item) for item in items] == [list(item) for item in over_http(ada)]
        assert [item["id"] for item in items] == [item["id"] for item in over_http(ada)]
        first = inbox.page(account, limit=2)
        assert [item["title"] for item in inbox.page(account, before=first[-1]["id"])] == ["First"]


def test_items_are_marked_and_deleted(host: Flask, ada: Person) -> None:
    with host.app_context():
        account, inbox = frontdesk.accounts.get(ada.email), frontdesk.inbox
        third, second, _ = inbox.page(account)
        assert inbox.mark(account, third["notification_id"], True)["is_read"] is True
        assert inbox.unread(account) == 2
        assert [item["id"] for item in inbox.page(account, is_read=True)] == [third["id"]]
        assert inbox.delete(account, second["id"])["title"] == "Second"
        assert inbox.mark_all(account, False) == 1
        assert inbox.unread(account) == 2
    assert [item["title"] for item in over_http(ada, "?is_read=false")] == ["Third", "First"]


def test_items_of_other_accounts_are_not_found(host: Flask, ada: Person) -> None:
    with host.app_context():
        account, bob = frontdesk.accounts.get(ada.email), frontdesk.accounts.get("bob@example.com")
        [other] = frontdesk.inbox.page(bob)
        with pytest.raises(NotFound):
            frontdesk.inbox.delete(account, other["id"])
        with pytest.raises(NotFound):
            frontdesk.inbox.mark(account, other["notification_id"], True)
        assert frontdesk.inbox.unread(bob) == 1
