"""The speed of a broadcast's delivery, and its result by channel as a page and as a file."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from datetime import datetime
from io import StringIO
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select, update

from app.accounts.service import Accounts
from app.broadcasts import counts, outcomes
from app.core.audit_log.models import AuditEntry
from app.core.context import current_frontdesk, service
from app.delivery.outbox.models import Delivery
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
        ids = session.scalars(pending).all()
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


def test_result_counts_recipients_by_channel_and_reason(
    app: Flask, admin: PageReader, boss: Person, people: list[Person]
) -> None:
    path = send(boss)
    finish(app, 5, state="sent")
    finish(app, 4, state="failed", reason="21211 invalid number")
    finish(app, 2, state="failed", reason="30003 <unreachable>")
    page = admin.get(f"{path}/result")
    text = visible_text(page).replace("\u2013", "-")
    for row in (
        "Inbox Stored - 14",
        "SMS Sent - 5",
        "SMS Failed 21211 invalid number 4 SMS Failed 30003 <unreachable> 2",
        "SMS Skipped no phone number 2",
        "One message is still queued.",
    ):
        assert row in text, text
    assert f'href="{path}/result.csv"' in page
    admin.get("/admin/broadcasts/999/result", 404)


@pytest.mark.usefixtures("people")
def test_result_of_a_large_broadcast_states_how_old_its_stored_counts_can_be(
    app: Flask, admin: PageReader, boss: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = send(boss)
    finish(app, 5, state="sent")
    # The counts of a small broadcast are always new.
    assert "minutes old" not in admin.get(f"{path}/result")
    monkeypatch.setattr(counts, "LARGE", 10)
    monkeypatch.setattr(counts, "VALID_SECONDS", 10)
    admin.get(f"{path}/result")
    finish(app, 3, state="sent")
    finish(app, 2, state="failed", reason="21211 invalid number")
    text = visible_text(admin.get(f"{path}/result")).replace("\u2013", "-")
    for shown in (
        "The numbers of sent and queued messages can be 3 minutes old.",
        "7 messages are still queued.",
        "SMS Sent - 5",
        "SMS Failed 21211 invalid number 2",
    ):
        assert shown in text, text


def test_file_has_a_row_for_each_recipient_and_channel(
    app: Flask, admin: PageReader, boss: Person, people: list[Person], monkeypatch: Any
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
        f'filename="broadcast-{path.rpartition("/")[2]}.csv"'
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
    ada.get(f"{path}/result", 403)
    ada.ask("GET", f"{path}/result.csv", 403)
