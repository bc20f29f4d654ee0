"""Preferences: kinds of notifications that an account turns off for the sending channels."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from app.accounts.service import Accounts
from app.core.context import current_frontdesk, service
from app.core.db.transaction import transaction
from app.delivery.outbox.models import Delivery
from app.notifications.optouts import OptOut, store_opt_outs
from app.testing.client import Api

from ..conftest import MakeApp, MakePerson, Person
from ..rigs.manual_engine import ManualEngine
from ..rigs.smtp import Sink, smtp_sink
from .conftest import Notify

PATH = "/notifications/preferences"
KINDS = {
    "orders": {"name": "Orders", "description": "Your orders."},
    "alarms": {"name": "Alarms", "channels": ["inapp", "email", "sms"], "mandatory": True},
    "hints": {"name": "Hints", "channels": ["inapp"]},
}
EVERY_CHANNEL = ["inapp", "email", "sms"]
OPTED_OUT = "Opted out"


@pytest.fixture
def sink() -> Iterator[Sink]:
    with smtp_sink() as sink:
        yield sink


@pytest.fixture
def app(make_app: MakeApp, sink: Sink) -> Flask:
    return make_app(
        MAIL_SERVER="127.0.0.1",
        MAIL_PORT=str(sink.port),
        NOTIFICATIONS__KINDS=json.dumps(KINDS),
        NOTIFICATIONS__INLINE_RECEIVERS="3",
    )


def switches(api: Api) -> dict[str, dict[str, bool]]:
    return {kind["key"]: kind["channels"] for kind in api.get(PATH).json["kinds"]}


def outcomes(app: Flask) -> list[tuple[str, str | None]]:
    """Return the state and the reason of each delivery, in the order of the recipients."""
    with app.app_context():
        rows = select(Delivery.state, Delivery.reason).order_by(Delivery.receiver_id)
        return [(state, reason) for state, reason in current_frontdesk.session.execute(rows)]


def test_preferences_list_every_kind_and_store_what_is_off(ada: Person, bob: Person) -> None:
    ada_api, bob_api = ada.api(), bob.api()
    kinds = {kind["key"]: kind for kind in ada_api.get(PATH).json["kinds"]}
    assert kinds["orders"] == {
        "key": "orders",
        "name": "Orders",
        "description": "Your orders.",
        "mandatory": False,
        "channels": {"email": True},
    }
    assert kinds["account"]["mandatory"]
    assert kinds["account"]["channels"] == {"email": True}
    assert kinds["hints"]["channels"] == {}
    assert "email" in kinds["announcements"]["channels"]
    for _ in range(2):
        changed = ada_api.put(PATH, json={"kinds": {"orders": {"email": False}, "hints": {}}}).json
        assert changed == ada_api.get(PATH).json
    assert switches(ada_api)["orders"] == {"email": False}
    assert switches(bob_api)["orders"] == {"email": True}
    ada_api.put(PATH, json={"kinds": {"orders": {"email": True}, "alarms": {"sms": True}}})
    assert switches(ada_api)["orders"] == {"email": True}
    ada_api.put(PATH, json={"kinds": {}})
    assert Api(ada_api.app).get(PATH, 401).status == 401


def test_rejected_preferences_change_nothing(ada: Person) -> None:
    api = ada.api()
    off: dict[str, Any] = {"orders": {"email": False}}
    unknown = {**off, "order": {"email": False}, "hints": {"inapp": False, "email": True}}
    assert sorted(api.put(PATH, 422, json={"kinds": unknown}).faults) == [
        "json:kinds.hints.email",
        "json:kinds.hints.inapp",
        "json:kinds.order",
    ]
    mandatory = {**off, "alarms": {"sms": False}, "account": {"email": False}}
    refused = api.put(PATH, 409, json={"kinds": mandatory})
    assert refused.json["code"] == "mandatory_kind"
    assert sorted(refused.faults) == ["json:kinds.account", "json:kinds.alarms"]
    wrong: Any
    for wrong in (
        {},
        {"kinds": []},
        {"kinds": {"orders": True}},
        {"kinds": {"orders": {"email": 2}}},
    ):
        api.put(PATH, 422, json=wrong)
    assert switches(api)["orders"] == {"email": True}


@pytest.mark.parametrize("receivers", [2, 4], ids=["inline", "expanded"])
def test_turned_off_kind_is_skipped_and_stays_in_the_inbox(
    app: Flask, person: MakePerson, notify: Notify, engine: ManualEngine, sink: Sink, receivers: int
) -> None:
    people = [person(f"p{number}") for number in range(receivers)]
    people[0].api().put(PATH, json={"kinds": {"orders": {"email": False}}})
    sent = notify(kind="orders")
    engine.deliver()
    assert outcomes(app) == [("skipped", OPTED_OUT), *[("sent", None)] * (receivers - 1)]
    assert people[0].email not in sink.receivers
    assert len(sink.received) == receivers - 1
    assert people[0].api().get("/notifications/unread-count").json["unread"] == 1
    assert sum(sent.deliveries["email"].values()) == receivers
    for kind in ("alarms", None):
        notify(kind=kind, channels=["inapp", "email"], receivers=[people[0].id])
    engine.deliver()
    assert sink.receivers.count(people[0].email) == 2


def test_opt_out_counts_when_the_delivery_is_stored(
    app: Flask, ada: Person, notify: Notify, engine: ManualEngine
) -> None:
    for is_on in (False, True):
        ada.api().put(PATH, json={"kinds": {"orders": {"email": is_on}}})
        if not is_on:
            notify(kind="orders")
    engine.deliver()
    assert outcomes(app) == [("skipped", OPTED_OUT)]


def test_reach_lists_who_opted_out(app: Flask, person: MakePerson, bob: Person) -> None:
    bob.api().put(PATH, json={"kinds": {"orders": {"email": False}}})
    admin = person("root", role="admin").api()
    question = {"channels": ["inapp", "email"], "kind": "orders"}
    reach = admin.post("/admin/notifications/reach", json=question).json
    left_out = [{"reason": OPTED_OUT, "receivers": 1}]
    assert reach["channels"]["email"] == {"reached": 1, "left_out": left_out}
    assert reach["channels"]["inapp"] == {"reached": 2, "left_out": []}
    for other in ({**question, "kind": "alarms"}, {"channels": ["inapp", "email"]}):
        reach = admin.post("/admin/notifications/reach", json=other).json
        assert reach["channels"]["email"] == {"reached": 2, "left_out": []}


def test_opt_out_after_sending_applies_when_the_delivery_is_claimed(
    app: Flask, ada: Person, bob: Person, notify: Notify, engine: ManualEngine, sink: Sink
) -> None:
    notify(kind="orders")
    bob.api().put(PATH, json={"kinds": {"orders": {"email": False}}})
    engine.deliver()
    assert sink.receivers == [ada.email]
    assert outcomes(app) == [("sent", None), ("skipped", OPTED_OUT)]


def test_opt_outs_end_with_the_account_and_when_its_owner_reclaims_it(
    app: Flask, ada: Person
) -> None:
    def turned_off() -> list[str]:
        return [*current_frontdesk.session.scalars(select(OptOut.kind))]

    off = {"kinds": {"orders": {"email": False}}}
    ada.api().put(PATH, json=off)
    with app.app_context():
        accounts = service(Accounts)
        with transaction(accounts.session):
            accounts.reclaim(accounts.get(ada.email), since=current_frontdesk.clock.now())
        assert turned_off() == ["orders"]
        with transaction(accounts.session):
            accounts.reclaim(accounts.get(ada.email))
        assert turned_off() == []
    with app.app_context():
        store_opt_outs(current_frontdesk.session, ada.id, [("orders", "email")])
        assert turned_off() == ["orders"]
        service(Accounts).delete(service(Accounts).get(ada.email))
        assert turned_off() == []
