"""The counts of large broadcasts: recounted while there is time, else the stored ones."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import update

from app.core.context import current_frontdesk
from app.notifications import counts
from app.notifications.models import Notification
from app.notifications.sent import SentNotifications
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
def without_counting_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counts, "COUNTING_SECONDS", -1.0)


def reads(admin: Api) -> list[int]:
    return [each["read"] for each in admin.get(f"{PATH}/all").json]


def read_it(reader: Person, sent: dict[str, Any]) -> None:
    reader.api().patch(f"/notifications/{sent['id']}/mark", query_string={"status": "true"})


def test_large_notifications_are_counted_while_there_is_time(admin: Api, ada: Person) -> None:
    sent = admin.post(f"{PATH}/", 201, json=body(channels=["inapp", "email"])).json
    read_it(ada, sent)
    assert reads(admin) == [1]


@pytest.mark.usefixtures("without_counting_time")
def test_stored_counts_are_shown_without_time(admin: Api, ada: Person) -> None:
    sent = admin.post(f"{PATH}/", 201, json=body(channels=["inapp", "email"])).json
    read_it(ada, sent)
    assert admin.get(f"{PATH}/all").json == [sent]
    assert admin.get(f"{PATH}/{sent['id']}").json["read"] == 1
    assert reads(admin) == [1]
    assert admin.delete(f"{PATH}/{sent['id']}").json["read"] == 1


@pytest.mark.usefixtures("without_counting_time")
def test_page_without_time_counts_nothing(admin: Api, app: Flask, ada: Person) -> None:
    for _ in range(3):
        admin.post(f"{PATH}/", 201, json=body())
    with noted_queries(app) as queries:
        assert reads(admin) == [0, 0, 0]
    assert not [query for query in queries if "count(" in query]


def delete_counts(app: Flask) -> None:
    """Delete the stored counts, as after an upgrade from a version without them."""
    with app.app_context():
        current_frontdesk.session.execute(update(Notification).values(counts=None, counted_at=None))
        current_frontdesk.session.commit()


@pytest.mark.usefixtures("without_counting_time")
def test_notification_without_counts_is_counted(admin: Api, app: Flask, ada: Person) -> None:
    sent = admin.post(f"{PATH}/", 201, json=body()).json
    delete_counts(app)
    read_it(ada, sent)
    assert reads(admin) == [1]


@pytest.mark.usefixtures("without_counting_time")
def test_each_page_counts_one_notification_without_counts(
    admin: Api, app: Flask, ada: Person
) -> None:
    for _ in range(3):
        sent = admin.post(f"{PATH}/", 201, json=body(channels=["inapp", "email"])).json
        read_it(ada, sent)
    delete_counts(app)
    page = admin.get(f"{PATH}/all").json
    assert [each["read"] for each in page] == [1, None, None]
    assert [each["deliveries"] for each in page] == [sent["deliveries"], None, None]
    assert [reads(admin) for _ in range(2)] == [[1, 1, None], [1, 1, 1]]


@pytest.mark.usefixtures("without_counting_time")
def test_single_notification_is_always_counted(admin: Api, app: Flask, ada: Person) -> None:
    first, _ = (admin.post(f"{PATH}/", 201, json=body()).json for _ in range(2))
    delete_counts(app)
    assert admin.get(f"{PATH}/{first['id']}").json["read"] == 0
    assert reads(admin) == [0, 0]


def test_oldest_counts_are_renewed_first(
    admin: Api, ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    older, newer = (admin.post(f"{PATH}/", 201, json=body()).json for _ in range(2))
    for sent in (older, newer):
        read_it(ada, sent)
    moments = iter([0.0, 0.0, 9.0])  # the start, and one call for each notification
    monkeypatch.setattr(counts, "monotonic", lambda: next(moments))
    assert reads(admin) == [0, 1]


def test_polling_renews_counts_when_they_are_stale(
    admin: Api, app: Flask, ada: Person, clock: SteppingClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counts, "VALID_SECONDS", 3600.0)
    sent = admin.post(f"{PATH}/", 201, json=body(channels=["inapp", "email"])).json
    read_it(ada, sent)
    with app.app_context():
        notifications = current_frontdesk.get(SentNotifications)
        assert notifications.poll(sent["id"])["read"] == 0
        clock.step(hours=sent["receivers"])
        assert notifications.poll(sent["id"])["read"] == 1
