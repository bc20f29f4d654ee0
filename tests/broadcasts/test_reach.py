"""The reach of a broadcast before it is sent, and its deliveries afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask

from app.core.context import Context
from app.testing.client import Api

from ..conftest import MakeApp, MakePerson, Person
from ..rigs.manual_engine import ManualEngine
from ..rigs.smtp import Sink, smtp_sink

PATH = "/admin/notifications"


@pytest.fixture
def sink() -> Iterator[Sink]:
    with smtp_sink() as sink:
        yield sink


@pytest.fixture
def app(make_app: MakeApp, sink: Sink) -> Flask:
    return make_app(
        MAIL_SERVER="127.0.0.1",
        MAIL_PORT=str(sink.port),
        SMS_ACCOUNT_SID="AC1",
        SMS_AUTH_TOKEN="token",
        SMS_PHONE_NUMBER="+15550100",
    )


@pytest.fixture
def root(person: MakePerson) -> Person:
    return person("root", role="admin")


@pytest.fixture
def admin(root: Person) -> Api:
    return root.api()


@pytest.fixture
def people(person: MakePerson) -> list[Person]:
    return [person("ada", phone="+441632960961"), person("bob"), person("carol")]


def reach(admin: Api, *channels: str, **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = admin.post(f"{PATH}/reach", json={"channels": [*channels], **more}).json
    return found


@pytest.mark.usefixtures("people")
def test_reach_counts_receivers_and_reasons_by_channel(admin: Api) -> None:
    assert reach(admin, "inapp", "email", "sms") == {
        "receivers": 4,
        "channels": {
            "inapp": {"reached": 4, "left_out": []},
            "email": {"reached": 4, "left_out": []},
            "sms": {
                "reached": 1,
                "left_out": [{"reason": "The account has no phone", "receivers": 3}],
            },
        },
    }


def test_reach_of_chosen_receivers(admin: Api, people: list[Person]) -> None:
    ids = [people[0].id, people[1].id, people[0].id]
    found = reach(admin, "sms", account_receiver_ids=ids)
    assert found["receivers"] == 2
    assert found["channels"]["sms"]["reached"] == 1


class TestWithoutConfiguration:
    @pytest.fixture
    def app(self, make_app: MakeApp) -> Flask:
        return make_app(CORE__EMAILS_ENABLED="false")

    def test_disabled_channel_reaches_no_account_and_has_a_reason(self, admin: Api) -> None:
        [left_out] = reach(admin, "email")["channels"]["email"]["left_out"]
        assert left_out["receivers"] == 1
        assert left_out["reason"]

    def test_channel_without_a_handler_reaches_no_account(self, admin: Api) -> None:
        [left_out] = reach(admin, "discord")["channels"]["discord"]["left_out"]
        assert left_out == {"reason": "No handler is registered for this channel", "receivers": 1}


def test_unknown_channel_is_rejected(admin: Api) -> None:
    response = admin.post(f"{PATH}/reach", 422, json={"channels": ["pigeon"]})
    assert response.json["errors"][0]["message"] == "Not a channel: pigeon"


def test_reach_equals_the_sent_deliveries(
    admin: Api, people: list[Person], engine: ManualEngine
) -> None:
    channels = ["inapp", "email", "sms"]
    found = reach(admin, *channels)
    data = {"title": "Closed", "message": "On Friday.", "channels": channels}
    sent = admin.post(f"{PATH}/", 201, json={"data": data}).json
    assert sent["receivers"] == found["receivers"] == len(people) + 1
    for name, counts in sent["deliveries"].items():
        assert counts["pending"] == found["channels"][name]["reached"]
        assert counts["skipped"] == sum(
            each["receivers"] for each in found["channels"][name]["left_out"]
        )


def test_empty_and_unknown_receivers_are_rejected(admin: Api) -> None:
    for ids, message in (([], "The list is empty"), ([4711], "No account has the id")):
        response = admin.post(
            f"{PATH}/reach", 422, json={"channels": ["inapp"], "account_receiver_ids": ids}
        )
        assert message in str(response.json["errors"])


def test_failed_deliveries_are_listed_and_retried(
    admin: Api, people: list[Person], sink: Sink, engine: ManualEngine
) -> None:
    rejected = "550 5.1.1 no such mailbox"
    sink.receiver_answer = lambda to: rejected if to == people[1].email else None
    data = {"title": "Closed", "message": "On Friday.", "channels": ["inapp", "email"]}
    sent = admin.post(f"{PATH}/", 201, json={"data": data}).json
    engine.deliver()
    [failed] = admin.get(f"{PATH}/{sent['id']}/deliveries").json
    assert failed["email"] == people[1].email
    assert failed["receiver_id"] == people[1].id
    assert failed["state"] == "failed"
    assert "no such mailbox" in failed["reason"]
    assert len(admin.get(f"{PATH}/{sent['id']}/deliveries?state=sent").json) == len(people)
    sink.receiver_answer = lambda _to: None
    assert admin.post(f"{PATH}/{sent['id']}/retry").json == {
        "message": "1 failed deliveries will be tried again"
    }
    engine.deliver()
    assert admin.get(f"{PATH}/{sent['id']}/deliveries").json == []
    assert admin.get(f"{PATH}/{sent['id']}").json["deliveries"]["email"]["sent"] == 4


def test_deliveries_are_paginated(admin: Api, people: list[Person]) -> None:
    data = {"title": "Closed", "message": "On Friday.", "channels": ["inapp", "email"]}
    sent = admin.post(f"{PATH}/", 201, json={"data": data}).json
    path = f"{PATH}/{sent['id']}/deliveries?state=pending&limit=3"
    first = admin.get(path)
    assert 'rel="next"' in first.headers["Link"]
    last = admin.get(f"{path}&after={first.json[-1]['id']}")
    assert "Link" not in last.headers
    seen = [each["receiver_id"] for each in (*first.json, *last.json)]
    assert len(seen) == len(set(seen)) == len(people) + 1


def test_other_admins_notifications_are_not_found(admin: Api, person: MakePerson) -> None:
    data = {"title": "Closed", "message": "On Friday.", "channels": ["inapp"]}
    sent = admin.post(f"{PATH}/", 201, json={"data": data}).json
    other = person("boss", role="admin").api()
    other.get(f"{PATH}/{sent['id']}/deliveries", 404)
    other.post(f"{PATH}/{sent['id']}/retry", 404)


def test_receivers_hook_applies_to_reach(app: Flask, admin: Api, people: list[Person]) -> None:
    context = app.extensions["frontdesk"]
    assert isinstance(context, Context)
    context.hooks.add("receivers", lambda accounts, _session: accounts[:1])
    assert len(people) == 3
    assert reach(admin, "email")["receivers"] == 1
