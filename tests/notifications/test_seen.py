"""What an account has seen of its inbox: the badge counts unread items that are newer."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import inspect

from app import AccountMixin, Frontdesk, blueprints
from app.accounts.service import Accounts
from app.testing.client import Api
from app.testing.database import noted_queries

from ..conftest import Person
from ..rigs.cases import for_each
from ..rigs.hosts import HostSettings
from ..rigs.racing import request, run_concurrently
from .conftest import Notify

Counts = Callable[[], tuple[int, int]]


@pytest.fixture
def inbox(ada: Person) -> Api:
    return ada.api()


@pytest.fixture
def counts(inbox: Api) -> Counts:
    """Return the numbers of unread and of unseen items."""

    def read() -> tuple[int, int]:
        found = inbox.get("/notifications/unread-count").json
        assert found.keys() == {"unread", "unseen"}
        return found["unread"], found["unseen"]

    return read


def test_items_are_unseen_until_a_newer_one_was_seen(
    inbox: Api, counts: Counts, notify: Notify
) -> None:
    assert inbox.post("/notifications/seen").json == {"unread": 0, "unseen": 0}
    for number in range(4):
        notify(str(number))
    newest, second, third, _oldest = inbox.get("/notifications").json
    assert counts() == (4, 4)
    assert inbox.post("/notifications/seen", json={"id": third["id"]}).json == {
        "unread": 4,
        "unseen": 2,
    }
    inbox.patch(f"/notifications/{newest['notification_id']}/mark?status=true")
    assert counts() == (3, 1)
    # The mark moves neither down nor beyond the newest item.
    inbox.post("/notifications/seen", json={"id": 0})
    assert counts() == (3, 1)
    inbox.post("/notifications/seen", json={"id": 2**63 - 1})
    assert counts() == (3, 0)
    inbox.post("/notifications/seen", json={"id": second["id"]})
    notify("new")
    assert counts() == (4, 1)
    assert inbox.post("/notifications/seen").json == {"unread": 4, "unseen": 0}
    assert inbox.post("/notifications/seen", json={"id": "x"}, status=422).faults == ["json:id"]


def test_mark_stays_when_its_item_is_deleted(inbox: Api, counts: Counts, notify: Notify) -> None:
    notify("seen")
    inbox.post("/notifications/seen")
    inbox.delete(inbox.get("/notifications").json[0]["links"]["delete"].removeprefix("/api/v1"))
    inbox.post("/notifications/seen")
    notify("new")
    assert counts() == (1, 1)


def test_item_of_another_account_moves_the_mark_of_neither(
    inbox: Api, counts: Counts, bob: Person, notify: Notify
) -> None:
    notify("to both")
    notify("to Bob", receivers=[bob.id])
    his = bob.api().get("/notifications").json[0]
    notify("to both again")
    assert inbox.post("/notifications/seen", json={"id": his["id"]}).json["unseen"] == 1
    assert bob.api().get("/notifications/unread-count").json == {"unread": 3, "unseen": 3}


def test_simultaneous_marks_end_at_the_newest_item(
    inbox: Api, counts: Counts, notify: Notify
) -> None:
    for number in range(6):
        notify(str(number))
    ids = [item["id"] for item in inbox.get("/notifications").json]
    marks = [request(inbox, "POST", "/notifications/seen", json={"id": each}) for each in ids]
    assert run_concurrently(*marks) == [200] * 6
    assert counts() == (6, 0)


def test_counts_are_one_statement_and_a_mark_is_two(inbox: Api, app: Flask, notify: Notify) -> None:
    notify()
    inbox.get("/account")
    for method, path, most in (
        ("GET", "/notifications/unread-count", 1),
        ("POST", "/notifications/seen", 2),
    ):
        with noted_queries(app) as statements:
            inbox.send(method, path, 200)
        assert len([each for each in statements if "inbox" in each]) == most, statements


def test_reclaimed_account_has_seen_nothing(
    app: Flask, inbox: Api, ada: Person, bob: Person, notify: Notify
) -> None:
    notify()
    for each in (inbox, bob.api()):
        each.post("/notifications/seen")
    with app.app_context():
        accounts = app.extensions["frontdesk"].services[Accounts]
        with Frontdesk().transaction():
            accounts.reclaim(accounts.get(ada.email))
    ada.change(password="correct horse battery")
    assert ada.api().get("/notifications/unread-count").json["unseen"] == 1
    assert bob.api().get("/notifications/unread-count").json["unseen"] == 0


@for_each("method", ["GET", "POST"])
def test_caller_must_be_signed_in(api: Api, method: str) -> None:
    path = "/notifications/seen" if method == "POST" else "/notifications/unread-count"
    api.send(method, path, 401)


def test_table_exists_where_the_blueprint_is_mounted() -> None:
    found = {}
    for mounted in (True, False):
        db, host = SQLAlchemy(), Flask("host")
        host.config["SQLALCHEMY_DATABASE_URI"] = "sqlite://"
        db.init_app(host)
        account_model = type("Account", (AccountMixin, db.Model), {"__tablename__": "accounts"})
        Frontdesk().init_app(host, db, settings=HostSettings(), account_model=account_model)
        if mounted:
            host.register_blueprint(blueprints.notifications, url_prefix="/inbox")
        with host.app_context():
            db.create_all()
            found[mounted] = inspect(db.engine).has_table("frontdesk_notification_seen")
    assert found == {True: True, False: False}
