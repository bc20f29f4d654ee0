"""How broadcasts to many are told of: counted while there is time, else as when last counted."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from app.core.desk import current_desk
from app.notifications import standing
from app.notifications.models import Notification
from app.testing.client import Api
from app.testing.queries import noted_queries

from ..conftest import MakePerson, Person
from .test_admin_send import PATH, body


@pytest.fixture
def admin(person: MakePerson) -> Api:
    return person("root", role="admin").api()


@pytest.fixture(autouse=True)
def two_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standing, "QUICKLY_COUNTED", 1)


@pytest.fixture
def no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standing, "SECONDS", -1.0)


def reads(admin: Api) -> list[int]:
    return [each["read"] for each in admin.get(f"{PATH}/all").json]


def read_it(reader: Person, sent: dict[str, Any]) -> None:
    reader.api().patch(f"/notifications/{sent['id']}/mark", query_string={"status": "true"})


def test_with_time_they_are_counted(admin: Api, ada: Person) -> None:
    sent = admin.post(f"{PATH}/", 201, json=body(channels=["inapp", "email"])).json
    read_it(ada, sent)
    assert reads(admin) == [1]


@pytest.mark.usefixtures("no_time")
def test_without_time_they_are_told_as_they_were(admin: Api, ada: Person) -> None:
    sent = admin.post(f"{PATH}/", 201, json=body(channels=["inapp", "email"])).json
    read_it(ada, sent)
    assert admin.get(f"{PATH}/all").json == [sent]
    assert admin.get(f"{PATH}/{sent['id']}").json["read"] == 1
    assert reads(admin) == [1]
    assert admin.delete(f"{PATH}/{sent['id']}").json["read"] == 1


@pytest.mark.usefixtures("no_time")
def test_a_page_of_them_counts_nothing(admin: Api, app: Flask, ada: Person) -> None:
    for _ in range(3):
        admin.post(f"{PATH}/", 201, json=body())
    with noted_queries(app) as queries:
        assert reads(admin) == [0, 0, 0]
    assert not [query for query in queries if "count(" in query]


@pytest.mark.usefixtures("no_time")
def test_one_that_was_never_counted_is(admin: Api, app: Flask, ada: Person) -> None:
    sent = admin.post(f"{PATH}/", 201, json=body()).json
    with app.app_context():
        notification = current_desk.session.get(Notification, sent["id"])
        assert notification is not None
        notification.standing = notification.counted_at = None
        current_desk.session.commit()
    read_it(ada, sent)
    assert reads(admin) == [1]


def test_what_was_counted_longest_ago_is_counted_first(
    admin: Api, ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    older, newer = (admin.post(f"{PATH}/", 201, json=body()).json for _ in range(2))
    for sent in (older, newer):
        read_it(ada, sent)
    moments = iter([0.0, 0.0, 9.0])  # the start, and one look at the clock for each
    monkeypatch.setattr(standing, "monotonic", lambda: next(moments))
    assert reads(admin) == [0, 1]
