"""The counts of large broadcasts: recounted while there is time, else the stored ones."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import update

from app.broadcasts import counts
from app.broadcasts.sent import SentNotifications
from app.core.context import current_frontdesk
from app.notifications.models import Notification
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.database import noted_queries

from ..conftest import MakePerson, Person
from .test_admin_send import PATH, body


@pytest.fixture
def admin(person: MakePerson) -> Api:
    return person("root", role="admin").api()


@pytest.fixture(autouse=True)
def lower_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counts, "LARGE", 1)


@pytest.fixture
def outdated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stored counts are outdated at once."""
    monkeypatch.setattr(counts, "VALID_SECONDS", 0.0)


@pytest.fixture
def without_counting_time(outdated: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counts, "COUNTING_SECONDS", -1.0)


def reads(admin: Api) -> list[int]:
    return [each["read"] for each in admin.get(f"{PATH}/all").json]


def read_it(reader: Person, sent: dict[str, Any]) -> None:
    reader.api().patch(f"/notifications/{sent['id']}/mark", query_string={"status": "true"})


def send_read(admin: Api, reader: Person, number: int) -> list[dict[str, Any]]:
    """Send broadcasts that are counted, and that the reader then marks as read."""
    sent = [
        admin.post(f"{PATH}/", 201, json=body(channels=["inapp", "email"])).json
        for _ in range(number)
    ]
    for each in sent:
        assert admin.get(f"{PATH}/{each['id']}").json["read"] == 0
        read_it(reader, each)
    return sent


@pytest.mark.usefixtures("outdated")
def test_large_notifications_are_counted_while_there_is_time(admin: Api, ada: Person) -> None:
    send_read(admin, ada, 3)
    assert reads(admin) == [1, 1, 1]


@pytest.mark.usefixtures("without_counting_time")
def test_page_without_time_counts_the_notification_with_the_oldest_counts(
    admin: Api, ada: Person
) -> None:
    sent = send_read(admin, ada, 3)
    page = admin.get(f"{PATH}/all").json
    assert page == [sent[2], sent[1], {**sent[0], "read": 1}]
    assert [reads(admin) for _ in range(2)] == [[0, 1, 1], [1, 1, 1]]


def test_page_counts_nothing_while_stored_counts_are_valid(
    admin: Api, app: Flask, ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counts, "VALID_SECONDS", 3600.0)
    send_read(admin, ada, 3)
    with noted_queries(app) as queries:
        assert reads(admin) == [0, 0, 0]
    assert not [query for query in queries if "count(" in query]


@pytest.mark.usefixtures("without_counting_time")
def test_notifications_without_counts_are_counted(admin: Api, app: Flask, ada: Person) -> None:
    """As after an upgrade from a version without stored counts."""
    send_read(admin, ada, 3)
    with app.app_context():
        current_frontdesk.session.execute(update(Notification).values(counts=None, counted_at=None))
        current_frontdesk.session.commit()
    assert reads(admin) == [1, 1, 1]


def test_route_of_a_notification_always_counts(
    admin: Api, ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counts, "VALID_SECONDS", 3600.0)
    (sent,) = send_read(admin, ada, 1)
    assert admin.get(f"{PATH}/all").json == [sent]
    assert admin.get(f"{PATH}/{sent['id']}").json["read"] == 1
    assert reads(admin) == [1]
    assert admin.delete(f"{PATH}/{sent['id']}").json["read"] == 1


def test_console_counts_when_the_stored_counts_are_outdated(
    admin: Api, app: Flask, ada: Person, clock: SteppingClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counts, "VALID_SECONDS", 3600.0)
    (sent,) = send_read(admin, ada, 1)
    with app.app_context():
        notifications = current_frontdesk.get(SentNotifications)
        assert notifications.get(sent["id"])["read"] == 0
        clock.step(hours=sent["receivers"])
        assert notifications.get(sent["id"])["read"] == 1
