"""The delivery of a broadcast: speed, failures, retries, stop, and the result as a file."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from datetime import datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select, update

from app.accounts.service import Accounts
from app.broadcasts import outcomes
from app.core.audit_log.models import AuditEntry
from app.core.context import current_frontdesk, service
from app.delivery.outbox.models import Delivery
from app.notifications.service import Notifications
from app.testing.clock import SteppingClock
from app.testing.people import Person

from ..conftest import MakeApp, MakePerson
from ..rigs.manual_engine import ManualEngine
from ..rigs.twilio import Gateway, sms_gateway
from .page_reader import PageReader, visible_text

SMS = {"SMS_ACCOUNT_SID": "AC1", "SMS_AUTH_TOKEN": "hidden", "SMS_PHONE_NUMBER": "+15550001111"}


class StoppedClock(SteppingClock):
    """A clock that only tests move, so that speeds are exact."""

    def __init__(self) -> None:
        super().__init__()
        self.start = super().now()

    def now(self) -> datetime:
        return self.start + self.ahead


@pytest.fixture
def clock() -> SteppingClock:
    return StoppedClock()


@pytest.fixture
def gateway() -> Iterator[Gateway]:
    with sms_gateway() as gateway:
        yield gateway


@pytest.fixture
def app(make_app: MakeApp, gateway: Gateway) -> Flask:
    return make_app(AUTH__COOKIE_SESSIONS="on", SMS_API_URL=gateway.url, **SMS)


@pytest.fixture
def boss(person: MakePerson) -> Person:
    return person("boss", role="admin")


@pytest.fixture
def admin(app: Flask, boss: Person) -> PageReader:
    return PageReader(app, boss)


@pytest.fixture
def people(admin: PageReader, person: MakePerson) -> list[Person]:
    people = [person(f"ada{number}", phone=f"+4416329609{number:02}") for number in range(12)]
    return [*people, person("=bob")]


def send(boss: Person) -> str:
    data = {"title": "Closed", "message": "On Friday.", "channels": ["inapp", "sms"]}
    sent = boss.api().post("/admin/notifications", 201, json={"data": data}).json
    return f"/admin/broadcasts/{sent['id']}"


def finish(app: Flask, number: int, **values: Any) -> None:
    """Record the results of some pending deliveries, as a worker does."""
    with app.app_context():
        session = current_frontdesk.session
        pending = select(Delivery.id).where(Delivery.state == "pending").limit(number)
        ids = session.scalars(pending.order_by(Delivery.attempts, Delivery.id)).all()
        values = {"finished_at": current_frontdesk.clock.now(), **values}
        session.execute(update(Delivery).where(Delivery.id.in_(ids)).values(**values))
        session.commit()


@pytest.mark.usefixtures("people")
def test_speed_and_time_left_are_shown_while_messages_are_queued(
    app: Flask, admin: PageReader, boss: Person, clock: SteppingClock, engine: ManualEngine
) -> None:
    path = send(boss)
    assert "per minute" not in admin.get(path)
    clock.step(seconds=5)
    finish(app, 1, state="sent")
    assert "per minute" not in admin.get(path)
    clock.step(seconds=25)
    finish(app, 1, state="failed", reason="21211 invalid number")
    page = admin.get(path)
    assert "4 per minute, about 2 minutes left" in visible_text(page)
    assert "4 per minute" in admin.get(f"{path}/progress")
    assert '<a href="' + path + '" class="button secondary small unscripted">' in page
    finish(app, 9, state="sent")
    assert "22 per minute, less than a minute left" in visible_text(admin.get(path))
    # Without recent results, the speed is not known.
    clock.step(seconds=130)
    assert "per minute" not in admin.get(path)
    finish(app, 1, state="sent")
    done = admin.get(path)
    assert "per minute" not in done
    assert "unscripted" not in done.partition("<main")[2]


@pytest.mark.usefixtures("people")
def test_speed_of_many_results_is_that_of_their_time(
    app: Flask, admin: PageReader, boss: Person, clock: SteppingClock, monkeypatch: Any
) -> None:
    monkeypatch.setattr(outcomes, "MAX_RECENT", 4)
    other = send(boss)
    finish(app, 12, state="sent")
    path = send(boss)
    clock.step(seconds=60)
    for _ in range(4):
        clock.step(seconds=2)
        finish(app, 1, state="sent")
    # Four in six seconds.
    assert "40 per minute" in visible_text(admin.get(path))
    assert "per minute" not in admin.get(other)


def test_failures_are_grouped_by_reason_and_opened_on_demand(
    app: Flask, admin: PageReader, boss: Person, people: list[Person]
) -> None:
    path = send(boss)
    finish(app, 5, state="sent")
    for number in range(4):
        reason = f"receiver: 550 5.1.1 <ada{number}@x.test> unknown"
        finish(app, 1, state="failed", reason=reason, attempts=number + 1)
    finish(app, 2, state="failed", reason="30003 <unreachable>")
    page = admin.get(path)
    text = visible_text(page)
    assert "4 failed Mailbox does not exist 550 5.1.1" in text
    assert "2 failed 30003 <unreachable>" in text
    # The recipients are shown on demand.
    assert "<table" not in page.partition('id="failed"')[2]
    assert f'href="{path}?reason=550+5.1.1#failed" aria-expanded="false"' in page
    opened = admin.get(f"{path}?reason=550+5.1.1").partition('id="failed"')[2]
    assert opened.count('<th scope="row">') == 4
    assert f'href="{path}#failed" aria-expanded="true"' in opened
    shown = "SMS 550 5.1.1 <ada3@x.test> unknown 4"
    assert shown in visible_text(opened)
    other = admin.get(f"{path}?reason=30003+%3Cunreachable%3E").partition('id="failed"')[2]
    assert other.count('<th scope="row">') == 2
    assert "550 5.1.1 <ada" not in visible_text(other)
    # The update of the open page keeps the choice.
    assert "reason=550+5.1.1" in admin.get(f"{path}?reason=550+5.1.1")
    admin.get(f"{path}/progress?failed=0&reason=550+5.1.1")


@pytest.mark.usefixtures("people")
def test_only_reason_is_open(app: Flask, admin: PageReader, boss: Person) -> None:
    path = send(boss)
    finish(app, 3, state="failed", reason="552 5.2.2 over quota", attempts=1)
    failed = admin.get(path).partition('id="failed"')[2].partition("</main>")[0]
    assert "Mailbox is full 552 5.2.2" in visible_text(failed)
    assert failed.count('<th scope="row">') == 3
    assert "aria-expanded" not in failed


@pytest.mark.usefixtures("people")
def test_status_without_an_enhanced_one_is_a_group_of_its_own(
    app: Flask, admin: PageReader, boss: Person
) -> None:
    path = send(boss)
    finish(app, 3, state="failed", reason="receiver: 550 5.1.1 unknown")
    finish(app, 2, state="failed", reason="receiver: 550 no such mailbox")
    finish(app, 1, state="failed", reason=None)
    page = admin.get(path)
    assert "1 failed No reason given" in visible_text(page).replace("One failed", "1 failed")
    assert admin.get(f"{path}?reason=550").count("550 no such mailbox</bdi>") == 2
    assert "550 5.1.1 unknown" not in admin.get(f"{path}?reason=550")


@pytest.mark.usefixtures("people")
def test_messages_that_wait_for_another_attempt_are_retrying(
    app: Flask, admin: PageReader, boss: Person, clock: SteppingClock
) -> None:
    path = send(boss)
    clock.step(seconds=30)
    finish(app, 2, state="sent")
    with app.app_context():
        now = current_frontdesk.clock.now()
    due_at = now + timedelta(hours=1)
    reason = "receiver: 451 4.7.1 <busy> try later"
    finish(app, 7, reason=reason, attempts=3, due_at=due_at, finished_at=None)
    page = admin.get(path)
    text = visible_text(page)
    shown = f"{due_at:%H:%M} UTC"
    assert "7 retrying, next attempt" in text
    assert shown in text
    assert "The server accepts the message later 451 4.7.1 <busy> try later" in text
    assert "3 queued" in text
    assert "about" not in text.partition("per minute, ")[2].partition("left")[0]
    # No estimate is left when all wait for the other server.
    finish(app, 3, state="sent")
    text = visible_text(admin.get(path))
    assert "7 retrying" in text
    assert "per minute" not in text
    assert "queued" not in text
    bar = admin.get(path).partition('<svg class="parts"')[2].partition("</svg>")[0]
    assert '<rect class="good" width="5"' in bar
    assert '<rect class="warn" x="5" width="7"' in bar
    # The overview says that they are retried, not that no worker runs.
    clock.step(seconds=600)
    overview = visible_text(admin.get("/admin"))
    assert "7 messages are retrying, next attempt" in overview
    assert "Check that a worker is running" not in overview
    queued = visible_text(admin.get("/admin/deliveries?state=pending"))
    assert "The server accepts the message later" in queued
    # Without a worker, they are late too.
    clock.step(seconds=4000)
    assert "Check that a worker is running" in visible_text(admin.get("/admin"))


@pytest.mark.usefixtures("people")
def test_channels_have_a_fixed_order(app: Flask, admin: PageReader, boss: Person) -> None:
    data = {"title": "Closed", "message": "On Friday.", "channels": ["inapp", "sms", "email"]}
    sent = boss.api().post("/admin/notifications", 201, json={"data": data}).json
    path = f"/admin/broadcasts/{sent['id']}"
    finish(app, 20, state="failed", reason="400 no")
    main = visible_text(admin.get(path)).partition("Delivery")[2]
    assert main.index("Email") < main.index("SMS")


def test_sender_stops_a_broadcast(
    app: Flask, admin: PageReader, boss: Person, people: list[Person]
) -> None:
    path = send(boss)
    finish(app, 5, state="sent")
    page = admin.get(path)
    assert "Stop sending this broadcast?" in page
    assert 'Already sent: <span id="sent-already">5</span>.' in page
    finish(app, 1, state="sent")
    update = admin.get(f"{path}/progress")
    assert '<span id="sent-already" hx-swap-oob="true">6</span>' in update
    admin.ask("POST", f"{path}/stop", 303)
    stopped = admin.get(path)
    text = visible_text(stopped)
    assert "Sending is stopped." in text
    # One of the recipients has no phone number, and the admin has none.
    assert "Stopped: 6 of 14 were sent" in text
    assert "8 skipped (sending stopped, no phone number)" in text
    assert "Stop sending this broadcast?" not in stopped
    assert "recipients have the message" not in stopped
    assert 'id="stop" hx-swap-oob="true" hidden' in admin.get(f"{path}/progress")
    assert "queued" not in text


def test_sender_stops_a_broadcast_to_inboxes(
    app: Flask,
    admin: PageReader,
    boss: Person,
    people: list[Person],
    engine: ManualEngine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(app.extensions["frontdesk"].get(Notifications), "inline_receivers", 4)
    data = {"title": "Closed", "message": "On Friday.", "channels": ["inapp"]}
    paths = []
    for _ in range(2):
        sent = boss.api().post("/admin/notifications", 201, json={"data": data}).json
        paths.append(f"/admin/broadcasts/{sent['id']}")
    path, other = paths
    page = admin.get(path)
    assert "0 of 14 recipients have the message in their inbox." in page
    assert "No further account gets the message." in page
    assert 'hx-trigger="every 3s"' in page
    assert "sent-already" not in page + admin.get(f"{path}/progress")
    admin.ask("POST", f"{path}/stop", 303)
    engine.deliver()
    stopped = admin.get(path)
    assert "Stopped: 0 of 14 recipients have the message in their inbox." in stopped
    assert "0 of 0" in stopped
    assert 'id="stop" hx-swap-oob="true" hidden' in admin.get(f"{path}/progress")
    complete = admin.get(other)
    assert "0 of 14" in complete
    assert "recipients have the message" not in complete
    for page in (stopped, complete):
        assert "Stop sending this broadcast?" not in page
        assert "every 3s" not in page


def test_file_has_a_row_for_each_recipient_and_channel(
    app: Flask,
    admin: PageReader,
    boss: Person,
    people: list[Person],
    clock: SteppingClock,
    monkeypatch: Any,
) -> None:
    monkeypatch.setattr(outcomes, "BATCH_ROWS", 5)
    path = send(boss)
    finish(app, 3, state="failed", reason="=cmd()", attempts=2)
    with app.app_context():
        accounts: Any = service(Accounts)
        accounts.delete(accounts.get(people[3].email))
        accounts.session.commit()
    answer = admin.ask("GET", f"{path}/result.csv", 200)
    assert (
        f'filename="broadcast-{path.rpartition("/")[2]}-{clock.now():%Y-%m-%d}.csv"'
        in answer.headers["Content-Disposition"]
    )
    rows = [*csv.DictReader(StringIO(answer.get_data(as_text=True).removeprefix("\ufeff")))]
    assert len(rows) == 14
    failed = [row for row in rows if row["state"] == "failed"]
    shown = [(row["channel"], row["reason"], row["attempts"]) for row in failed]
    assert shown == [("sms", "'=cmd()", "2")] * 3
    emails = {row["email"] for row in rows}
    assert {people[0].email, f"'{people[-1].email}", ""} <= emails
    admin.ask("GET", "/admin/broadcasts/999/result.csv", 404)
    with app.app_context():
        types = select(AuditEntry.type).where(AuditEntry.type == "notification.downloaded")
        assert [*current_frontdesk.session.scalars(types)] == ["notification.downloaded"]


def test_only_admins_read_results(
    app: Flask, admin: PageReader, boss: Person, people: list[Person]
) -> None:
    path = send(boss)
    ada = PageReader(app, people[0])
    ada.get(path, 403)
    ada.ask("GET", f"{path}/result.csv", 403)
