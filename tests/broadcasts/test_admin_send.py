from __future__ import annotations

import logging
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select

from app.core.context import current_frontdesk
from app.delivery.outbox.models import Delivery, OutgoingMessage
from app.notifications.models import InboxItem, Notification
from app.testing.client import Api

from ..conftest import MakePerson, Person
from ..rigs.cases import for_each
from ..rigs.racing import request, run_concurrently

BREAKS = "\r\n\v\f\x1c\x1d\x1e\x1f\x85\u2028\u2029\0"
PATH = "/admin/notifications"


def body(**data: Any) -> dict[str, Any]:
    return {"data": {"title": "Closed", "message": "On Friday.", "channels": ["inapp"], **data}}


@pytest.fixture
def admin(person: MakePerson) -> Api:
    return person("root", role="admin").api()


def stored(app: Flask) -> tuple[int, int, int]:
    """Return the numbers of notifications, inbox rows and deliveries."""
    with app.app_context():
        session = current_frontdesk.session
        return tuple(  # type: ignore[return-value]
            session.scalar(select(func.count()).select_from(model))
            for model in (Notification, InboxItem, Delivery)
        )


def test_broadcast_to_all_reaches_every_inbox(admin: Api, ada: Person, bob: Person) -> None:
    sent = admin.post(f"{PATH}/", 201, json=body()).json
    assert sent["receivers"] == 3
    for each in (ada, bob):
        (item,) = each.api().get("/notifications/").json
        assert item["notification_id"] == sent["id"]
        assert item["receiver_id"] == each.id
        assert item["is_read"] is False


def test_response_has_the_notification_and_its_counts(admin: Api, ada: Person) -> None:
    sent = admin.post(f"{PATH}/", 201, json=body(channels=["inapp", "email"])).json
    created_at = sent.pop("created_at")
    assert created_at.endswith("+00:00")
    assert sent == {
        "id": 1,
        "title": "Closed",
        "message": "On Friday.",
        "channels": ["inapp", "email"],
        "sender_id": sent["sender_id"],
        "notification_type": "admin",
        "scope": "account",
        "url": None,
        "kind": "announcements",
        "data": None,
        "workspace_id": None,
        "key": None,
        "links": {"open": None},
        "receivers": 2,
        "read": 0,
        "deliveries": {"email": {"pending": 2, "sent": 0, "failed": 0, "skipped": 0}},
    }


def test_receiver_ids_are_repeated_in_the_query(
    admin: Api, ada: Person, bob: Person, person: MakePerson
) -> None:
    carol = person("carol")
    query = f"?account_receiver_ids={ada.id}&account_receiver_ids={carol.id}"
    assert admin.post(f"{PATH}/{query}", 201, json=body()).json["receivers"] == 2
    assert len(ada.api().get("/notifications").json) == 1
    assert bob.api().get("/notifications").json == []


def test_receiver_ids_are_accepted_in_the_body(admin: Api, ada: Person) -> None:
    ids = [ada.id] * 20_000
    sent = admin.post(PATH, 201, json={**body(), "account_receiver_ids": ids}).json
    assert sent["receivers"] == 1


def test_repeated_receiver_gets_one_item(admin: Api, ada: Person) -> None:
    query = f"?account_receiver_ids={ada.id}&account_receiver_ids={ada.id}"
    assert admin.post(f"{PATH}/{query}", 201, json=body()).json["receivers"] == 1
    assert len(ada.api().get("/notifications").json) == 1


def test_unknown_receivers_are_named_and_nothing_is_sent(
    admin: Api, ada: Person, app: Flask
) -> None:
    query = f"?account_receiver_ids={ada.id}&account_receiver_ids=4711&account_receiver_ids=815"
    response = admin.post(f"{PATH}/{query}", 422, json=body())
    assert response.faults == ["query:account_receiver_ids"]
    message = response.json["errors"][0]["message"]
    assert "4711" in message
    assert "815" in message
    assert stored(app) == (0, 0, 0)


def test_unknown_receivers_in_the_body_are_reported_for_the_body(admin: Api) -> None:
    response = admin.post(PATH, 422, json={**body(), "account_receiver_ids": [4711]})
    assert response.faults == ["json:account_receiver_ids"]


@for_each("name", ["account_receiver_ids[]", "accountReceiverIds", "receivers"])
def test_misnamed_receivers_are_rejected(admin: Api, ada: Person, app: Flask, name: str) -> None:
    response = admin.post(f"{PATH}/", 422, query_string={name: ada.id}, json=body())
    assert response.faults == [f"query:{name}"]
    misplaced = admin.post(PATH, 422, json={**body(), name: [ada.id]})
    assert misplaced.faults == [f"json:{name}"]
    inside = admin.post(PATH, 422, json={"data": {**body()["data"], name: [ada.id]}})
    assert inside.faults == [f"json:data.{name}"]
    assert admin.get(f"{PATH}/all", 200).json == []


def test_receivers_inside_data_are_rejected(admin: Api, ada: Person) -> None:
    inside = {"data": {**body()["data"], "account_receiver_ids": [ada.id]}}
    assert admin.post(PATH, 422, json=inside).faults == ["json:data.account_receiver_ids"]


@for_each("ids", ["x", "1_0", "٣", "-1", "9223372036854775808", "1,2", "1.0", "true"])
def test_invalid_receiver_id_is_rejected(admin: Api, app: Flask, ids: str) -> None:
    response = admin.post(f"{PATH}/", 422, query_string={"account_receiver_ids": ids}, json=body())
    assert response.faults == ["query:account_receiver_ids.0"]
    assert stored(app) == (0, 0, 0)


@for_each("empty", [{"json": []}, {"json": None}, {"query": ""}])
def test_empty_list_of_receivers_is_rejected(admin: Api, app: Flask, empty: dict[str, Any]) -> None:
    sent = body() | ({"account_receiver_ids": empty["json"]} if "json" in empty else {})
    query = "?account_receiver_ids=" if "query" in empty else ""
    response = admin.post(PATH + query, 422, json=sent)
    (place,) = empty
    assert response.faults == [f"{place}:account_receiver_ids"]
    assert response.json["errors"][0]["message"].endswith("Leave it out to send to all accounts.")
    assert stored(app) == (0, 0, 0)


def test_body_without_data_is_rejected(admin: Api) -> None:
    assert admin.post(PATH, 422, json=body()["data"]).faults == ["json:data"]
    assert admin.post(PATH, 422).faults == ["json:data"]


def test_missing_channels_have_a_separate_error(admin: Api, app: Flask) -> None:
    response = admin.post(PATH, 400, json=body(channels=[]))
    assert response.detail == "No channels specified"
    assert stored(app) == (0, 0, 0)


@for_each(
    "wrong",
    [
        {"channels": ["inapp", "pigeon"]},
        {"channels": ["email"]},
        {"channels": "inapp"},
        {"channels": None},
        {"channels": ["inapp"] * 51},
        {"title": ""},
        {"title": "x" * 201},
        {"title": None},
        {"message": ""},
        {"message": "x" * 10_001},
        {"message": "\0"},
        {"message": 1},
        *(
            {"title": f"a{character}b"}
            for character in "\r\n\v\f\x1c\x1d\x1e\x1f\x85\u2028\u2029\0"
        ),
    ],
)
def test_invalid_input_is_rejected_and_nothing_is_stored(
    admin: Api, app: Flask, wrong: dict[str, Any]
) -> None:
    (name,) = wrong
    response = admin.post(PATH, 422, json=body(**wrong))
    assert {fault.partition(".")[2] for fault in response.faults} == {name}
    assert stored(app) == (0, 0, 0)


def test_longest_title_and_message_are_accepted(admin: Api, ada: Person) -> None:
    admin.post(PATH, 201, json=body(title="ü" * 200, message="\U0001f600" * 10_000))
    (item,) = ada.api().get("/notifications").json
    assert (len(item["title"]), len(item["message"])) == (200, 10_000)


def test_channels_without_a_handler_are_skipped_with_a_warning(
    admin: Api, app: Flask, caplog: pytest.LogCaptureFixture
) -> None:
    sent = admin.post(PATH, 201, json=body(channels=["inapp", "push", "discord"])).json
    assert sent["channels"] == ["inapp", "push", "discord"]
    assert sent["deliveries"] == {}
    warned = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert [("push" in str(r.args), "discord" in str(r.args)) for r in warned] == [
        (True, False),
        (False, True),
    ]
    assert stored(app)[2] == 0


def test_repeated_channel_sends_once(admin: Api, ada: Person, app: Flask) -> None:
    channels = ["inapp", "email", "email", "inapp"]
    sent = admin.post(PATH, 201, json=body(channels=channels)).json
    assert sent["channels"] == ["inapp", "email"]
    notifications, _, deliveries = stored(app)
    assert (notifications, deliveries) == (1, 2)
    assert len(ada.api().get("/notifications").json) == 1


def test_authorization_precedes_validation(ada: Person, api: Api) -> None:
    api.post(PATH, 401, json={})
    assert ada.api().post(PATH, 403, json={}).detail == "Not authorized"
    assert ada.api().get(f"{PATH}/1", 403).detail == "Not authorized"
    assert ada.api().delete(f"{PATH}/1", 403).detail == "Not authorized"
    assert ada.api().get(f"{PATH}/all", 403).detail == "Not authorized"


def test_inactive_admin_cannot_send(admin: Api, person: MakePerson) -> None:
    eve = person("eve", role="admin")
    sleepy = eve.api()
    eve.change(status="suspended")
    assert sleepy.post(PATH, 401, json=body()).detail == "The account is inactive"


def test_admin_sees_only_own_notifications(admin: Api, person: MakePerson) -> None:
    other = person("other", role="root").api()
    mine = admin.post(PATH, 201, json=body(title="mine")).json
    hers = other.post(PATH, 201, json=body(title="hers")).json
    assert [each["title"] for each in admin.get(f"{PATH}/all").json] == ["mine"]
    assert admin.get(f"{PATH}/{mine['id']}").json == mine
    assert admin.get(f"{PATH}/{hers['id']}", 404).detail == "Notification not found"
    assert admin.delete(f"{PATH}/{hers['id']}", 404).detail == "Notification not found"


def test_list_is_paginated_newest_first(admin: Api) -> None:
    for number in range(3):
        admin.post(PATH, 201, json=body(title=str(number)))
    titles = [each["title"] for each in admin.get(f"{PATH}/all").json]
    assert titles == ["2", "1", "0"]
    page = admin.get(f"{PATH}/all", query_string={"offset": 1, "limit": 1}).json
    assert [each["title"] for each in page] == ["1"]


def test_list_has_no_other_scopes_and_types(admin: Api, app: Flask, person: MakePerson) -> None:
    sent = admin.post(PATH, 201, json=body()).json
    with app.app_context():
        session = current_frontdesk.session
        notification = session.get(Notification, sent["id"])
        assert notification is not None
        notification.scope = "shop"
        session.commit()
    assert admin.get(f"{PATH}/all").json == []
    admin.get(f"{PATH}/{sent['id']}", 404)
    admin.delete(f"{PATH}/{sent['id']}", 404)


def test_deletion_removes_inbox_items_and_pending_deliveries(
    admin: Api, ada: Person, app: Flask
) -> None:
    sent = admin.post(PATH, 201, json=body(channels=["inapp", "email"])).json
    assert admin.delete(f"{PATH}/{sent['id']}").json["id"] == sent["id"]
    assert ada.api().get("/notifications").json == []
    assert stored(app) == (0, 0, 0)
    with app.app_context():
        assert current_frontdesk.session.scalar(select(func.count(OutgoingMessage.id))) == 0


def test_only_one_concurrent_deletion_succeeds(admin: Api, ada: Person) -> None:
    sent = admin.post(PATH, 201, json=body()).json
    delete = request(admin, "DELETE", f"{PATH}/{sent['id']}")
    assert run_concurrently(*[delete] * 6) == [200] + [404] * 5


def test_marks_and_a_deletion_race_without_errors(admin: Api, ada: Person, bob: Person) -> None:
    for _ in range(5):
        sent = admin.post(PATH, 201, json=body()).json
        path = f"/notifications/{sent['id']}/mark?status=true"
        readers = [request(each.api(), "PATCH", path) for each in (ada, bob) for _ in range(2)]
        delete = request(admin, "DELETE", f"{PATH}/{sent['id']}")
        assert set(run_concurrently(*readers, delete)) <= {200, 404}
        assert ada.api().get("/notifications").json == bob.api().get("/notifications").json == []


def test_read_items_are_counted(admin: Api, ada: Person) -> None:
    sent = admin.post(PATH, 201, json=body()).json
    ada.api().patch(f"/notifications/{sent['id']}/mark")
    assert admin.get(f"{PATH}/{sent['id']}").json["read"] == 1


def test_notification_outlives_its_sender(admin: Api, ada: Person, app: Flask) -> None:
    admin.post(PATH, 201, json=body())
    with app.app_context():
        from app.accounts.service import Accounts
        from app.core.context import service

        accounts = service(Accounts)
        accounts.delete(accounts.get("root@example.com"))
    (item,) = ada.api().get("/notifications").json
    assert item["sender_id"] is None
