"""Emails that wait until their notification is read in the inbox."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from app.core.context import current_frontdesk
from app.core.errors import SetupError
from app.delivery.outbox.models import Delivery
from app.delivery.worker import batch as batch_module
from app.testing.clock import SteppingClock

from ..conftest import MakeApp, MakePerson, Person
from ..rigs.manual_engine import ManualEngine
from ..rigs.smtp import Sink, smtp_sink
from .conftest import Notify

MINUTES = 30
KINDS = {"orders": {"name": "Orders", "email_if_unread": MINUTES}}
READ_BEFORE = "Read before"


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


def outcomes(app: Flask) -> list[tuple[str, str | None]]:
    with app.app_context():
        rows = select(Delivery.state, Delivery.reason).order_by(Delivery.receiver_id)
        return [(state, reason) for state, reason in current_frontdesk.session.execute(rows)]


@pytest.mark.parametrize("receivers", [3, 5], ids=["inline", "expanded"])
def test_email_is_sent_after_the_delay_to_those_who_have_not_read_it(
    app: Flask,
    person: MakePerson,
    notify: Notify,
    engine: ManualEngine,
    sink: Sink,
    clock: SteppingClock,
    receivers: int,
) -> None:
    people = [person(f"p{number}") for number in range(receivers)]
    notify(kind="orders")
    engine.deliver()
    clock.step(minutes=MINUTES - 1)
    engine.deliver()
    assert sink.received == []
    people[0].api().patch("/notifications/mark-all?status=true")
    [item] = people[1].api().get("/notifications").json
    people[1].api().delete(f"/notifications/{item['id']}")
    clock.step(minutes=1)
    engine.deliver()
    skipped = [("skipped", READ_BEFORE)] * 2
    assert outcomes(app) == [*skipped, *[("sent", None)] * (receivers - 2)]
    assert sorted(sink.receivers) == [each.email for each in people[2:]]


def test_delay_of_one_notification_replaces_that_of_its_kind(
    ada: Person, notify: Notify, engine: ManualEngine, sink: Sink, clock: SteppingClock
) -> None:
    notify(kind="orders", email_if_unread=5)
    notify("Without a kind", channels=["inapp", "email"], email_if_unread=10)
    notify("At once", kind="orders", channels=["email"])
    subjects = []
    for minutes in (0, 5, 5):
        clock.step(minutes=minutes)
        engine.deliver()
        subjects.append([mail.message["subject"] for mail in sink.received])
        sink.received.clear()
    assert subjects == [["At once"], ["Hello"], ["Without a kind"]]


@pytest.mark.parametrize(
    "wrong",
    [
        {"email_if_unread": 0},
        {"email_if_unread": 1441},
        {"email_if_unread": True},
        {"email_if_unread": 1.5},
        {"email_if_unread": 5, "channels": ["email"]},
        {"email_if_unread": 5, "channels": ["inapp"]},
    ],
    ids=str,
)
def test_wrong_delay_is_a_setup_error(notify: Notify, wrong: dict[str, Any]) -> None:
    with pytest.raises(SetupError, match="email_if_unread"):
        notify(**{"channels": ["inapp", "email"], **wrong})


def test_attempts_age_and_lag_count_from_the_end_of_the_delay(
    app: Flask,
    ada: Person,
    notify: Notify,
    engine: ManualEngine,
    sink: Sink,
    clock: SteppingClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def lag() -> float:
        result = app.test_cli_runner().invoke(args=["notifications", "status", "--json"])
        return float(json.loads(result.output)["oldest_waits_seconds"])

    monkeypatch.setattr(batch_module, "MAX_AGE_DAYS", 1)
    notify(channels=["inapp", "email"], email_if_unread=1440)
    sink.greeting_answer = lambda _name: "421 later"
    clock.step(hours=23)
    assert lag() == 0
    clock.step(hours=2)
    assert lag() == pytest.approx(3600, abs=10)
    for hours in (0, 22):
        clock.step(hours=hours)
        engine.deliver()
        assert [state for state, _ in outcomes(app)] == ["pending"]
    clock.step(hours=2)
    engine.deliver()
    assert [state for state, _ in outcomes(app)] == ["failed"]
