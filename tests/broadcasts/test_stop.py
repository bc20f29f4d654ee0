"""Admins stop a broadcast: what no worker has claimed is not sent, also while workers send."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event, Semaphore
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select, text

from app.broadcasts import expansions
from app.core.audit_log.models import AuditEntry
from app.core.context import current_frontdesk, service
from app.core.db.transaction import transaction
from app.delivery.errors import Refused, TryLater, Unreachable
from app.delivery.outbox.models import STOPPED, Delivery
from app.delivery.worker import worker
from app.delivery.worker.worker import Worker
from app.notifications.models import EXPAND_BROADCASTS, Expansion, InboxItem
from app.testing.client import Api
from app.testing.clock import SteppingClock

from ..conftest import MakeApp, MakePerson, Person
from ..rigs.manual_engine import ManualEngine
from ..rigs.racing import request, run_concurrently
from .test_admin_send import PATH, body

LIMIT, ALL = 6, 8
ROUNDS = 100
# Seconds: the request and the worker of a round wait up to nine of them.
PAUSE = 0.002


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(NOTIFICATIONS__INLINE_RECEIVERS=str(LIMIT))


@pytest.fixture
def admin(person: MakePerson) -> Api:
    return person("root", role="admin").api()


@pytest.fixture
def people(admin: Api, person: MakePerson) -> list[Person]:
    return [person(f"p{number}", phone=None) for number in range(ALL - 1)]


class Sender:
    """A handler of emails that notes the recipients, and can pause or fail."""

    def __init__(self, app: Flask) -> None:
        self.sent: list[str] = []
        self.before: Callable[[], object] = lambda: None
        app.extensions["frontdesk"].hooks.add("channel", self.send, "email")

    def send(self, _message: Any, account: Any, *_: Any) -> None:
        self.before()
        self.sent.append(account.email)


@pytest.fixture
def sender(app: Flask) -> Sender:
    return Sender(app)


def send(admin: Api, receivers: list[Person] | None = None) -> str:
    more = {} if receivers is None else {"account_receiver_ids": [each.id for each in receivers]}
    sent = admin.post(f"{PATH}/", 201, json=body(channels=["inapp", "email"]) | more).json
    return f"{PATH}/{sent['id']}"


def stop(admin: Api, path: str) -> dict[str, int]:
    return dict(admin.post(f"{path}/stop", 200).json["deliveries"]["email"])


def counts(admin: Api, path: str) -> dict[str, int]:
    return dict(admin.get(path).json["deliveries"]["email"])


def stored(app: Flask, model: Any) -> int:
    with app.app_context():
        return current_frontdesk.session.scalar(select(func.count()).select_from(model)) or 0


def entries(app: Flask) -> int:
    with app.app_context():
        stopped = select(func.count()).where(AuditEntry.type == "notification.stopped")
        return current_frontdesk.session.scalar(stopped) or 0


def test_stopped_broadcast_sends_nothing_further(
    app: Flask, admin: Api, people: list[Person], sender: Sender, engine: ManualEngine
) -> None:
    path = send(admin, people[:5])
    assert stop(admin, path) == {"pending": 0, "sent": 0, "failed": 0, "skipped": 5}
    engine.deliver()
    assert sender.sent == []
    with app.app_context():
        reasons = current_frontdesk.session.scalars(select(Delivery.reason).distinct())
        assert [*reasons] == [STOPPED]
    # The inbox keeps the message.
    assert people[0].api().get("/notifications/?is_read=false", 200).json
    assert entries(app) == 1


def test_broadcast_that_is_sent_is_not_stopped(
    app: Flask, admin: Api, people: list[Person], sender: Sender, engine: ManualEngine
) -> None:
    path = send(admin, people[:5])
    engine.deliver()
    assert stop(admin, path) == {"pending": 0, "sent": 5, "failed": 0, "skipped": 0}
    assert entries(app) == stored(app, Expansion) == 0


def test_only_the_sender_stops_a_broadcast(
    admin: Api, people: list[Person], person: MakePerson, sender: Sender
) -> None:
    path = send(admin, people[:5])
    person("other", role="admin").api().post(f"{path}/stop", 404)
    people[0].api().post(f"{path}/stop", 403)
    admin.post(f"{PATH}/999/stop", 404)
    assert counts(admin, path)["pending"] == 5


@pytest.mark.parametrize("error", [TryLater("busy"), Unreachable("away")], ids=["busy", "away"])
def test_claimed_delivery_is_not_retried_after_the_stop(
    admin: Api,
    people: list[Person],
    sender: Sender,
    engine: ManualEngine,
    clock: SteppingClock,
    error: Exception,
) -> None:
    path = send(admin, people[:5])

    def stop_and_fail() -> None:
        stop(admin, path)
        raise error

    sender.before = stop_and_fail
    engine.deliver()
    assert counts(admin, path) == {"pending": 0, "sent": 0, "failed": 0, "skipped": 5}
    sender.before = lambda: None
    clock.step(hours=2)
    engine.deliver()
    assert sender.sent == []


def test_worker_finishes_the_deliveries_that_it_has_claimed(
    admin: Api,
    people: list[Person],
    sender: Sender,
    engine: ManualEngine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(worker, "BATCH_SIZE", 2)
    path = send(admin, people[:5])
    seen: list[dict[str, int]] = []

    def stop_at_first() -> None:
        if not seen:
            seen.append(stop(admin, path))

    sender.before = stop_at_first
    engine.deliver()
    assert seen == [{"pending": 2, "sent": 0, "failed": 0, "skipped": 3}]
    assert counts(admin, path) == {"pending": 0, "sent": 2, "failed": 0, "skipped": 3}


def test_retried_and_waiting_messages_are_stopped(
    app: Flask, admin: Api, people: list[Person], sender: Sender, engine: ManualEngine
) -> None:
    path = send(admin, people[:5])

    def fail() -> None:
        raise TryLater("451 4.7.1 busy")

    sender.before = fail
    engine.deliver()
    assert counts(admin, path)["pending"] == 5
    assert stop(admin, path) == {"pending": 0, "sent": 0, "failed": 0, "skipped": 5}


def test_failed_messages_of_a_stopped_broadcast_can_be_retried(
    admin: Api, people: list[Person], sender: Sender, engine: ManualEngine
) -> None:
    path = send(admin, people[:2])

    def refuse_first() -> None:
        sender.before = lambda: None
        raise Refused("550 5.1.1 unknown")

    sender.before = refuse_first
    engine.deliver()
    stop(admin, path)
    admin.post(f"{path}/retry", 200)
    engine.deliver()
    assert counts(admin, path) == {"pending": 0, "sent": 2, "failed": 0, "skipped": 0}


def test_expansion_ends_with_the_stop(
    app: Flask,
    admin: Api,
    people: list[Person],
    sender: Sender,
    engine: ManualEngine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(expansions, "RANGE_SIZE", 2)
    path = send(admin)
    requested = iter([False, False, True])
    with app.app_context():
        service(Worker).work(EXPAND_BROADCASTS, stopping=lambda: next(requested))
    assert stored(app, Delivery) == 4
    # Recipients without rows are counted too.
    assert stop(admin, path) == {"pending": 0, "sent": 0, "failed": 0, "skipped": ALL}
    engine.deliver()
    assert (stored(app, Delivery), stored(app, InboxItem)) == (4, 4)
    assert sender.sent == []
    admin.delete(path, 200)
    assert stored(app, Expansion) == 0


def test_broadcast_to_inboxes_is_stopped_until_all_have_it(
    app: Flask,
    admin: Api,
    people: list[Person],
    engine: ManualEngine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(expansions, "RANGE_SIZE", 2)
    sent = admin.post(f"{PATH}/", 201, json=body(channels=["inapp"])).json
    path, requested = f"{PATH}/{sent['id']}", iter([False, False, True])
    with app.app_context():
        service(Worker).work(EXPAND_BROADCASTS, stopping=lambda: next(requested))
    assert admin.post(f"{path}/stop", 200).json["deliveries"] == {}
    engine.deliver()
    assert (stored(app, InboxItem), entries(app)) == (4, 1)
    path = f"{PATH}/{admin.post(f'{PATH}/', 201, json=body(channels=['inapp'])).json['id']}"
    engine.deliver()
    admin.post(f"{path}/stop", 200)
    assert (stored(app, InboxItem), entries(app)) == (4 + ALL, 1)


def test_no_row_is_stored_after_the_stop_of_a_running_expansion(
    app: Flask, admin: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expansions, "RANGE_SIZE", 1)
    add_accounts(app, 200)
    store_range = expansions.Expansions._store_range
    unfinished = 0
    for number in (1, 20, 60):
        path, before = send(admin), (stored(app, Delivery), stored(app, InboxItem))
        ranges = Semaphore(0)

        def store_and_count(*given: Any, ranges: Semaphore = ranges) -> bool:
            is_stored = store_range(*given)
            ranges.release()
            return is_stored

        monkeypatch.setattr(expansions.Expansions, "_store_range", store_and_count)

        def expand() -> None:
            with app.app_context():
                service(Worker).work(EXPAND_BROADCASTS)

        with ThreadPoolExecutor(1) as pool:
            expanded = pool.submit(expand)
            for _ in range(number):
                assert ranges.acquire(timeout=60)
            stop(admin, path)
            at_stop = (stored(app, Delivery), stored(app, InboxItem))
            expanded.result(60)
        assert (stored(app, Delivery), stored(app, InboxItem)) == at_stop
        assert counts(admin, path) == {"pending": 0, "sent": 0, "failed": 0, "skipped": 201}
        unfinished += at_stop[0] - before[0] < 201
    assert unfinished


def test_two_stops_at_once_are_one(
    app: Flask, admin: Api, people: list[Person], sender: Sender
) -> None:
    for number in range(5):
        path = send(admin, people[:5])
        act = request(admin, "POST", f"{path}/stop")
        assert run_concurrently(act, act, act) == [200, 200, 200]
        assert counts(admin, path)["skipped"] == 5
        assert entries(app) == number + 1


def test_nothing_unclaimed_is_sent_after_the_stop_in_a_hundred_rounds(
    app: Flask, admin: Api, sender: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "BATCH_SIZE", 2)
    add_accounts(app, LIMIT - 1)
    stopped_midway = 0
    for number in range(ROUNDS):
        sender.sent.clear()
        path = send(admin)
        barrier, finished = Barrier(2), Event()

        def work(pause: float) -> None:
            with app.app_context():
                barrier.wait()  # noqa: B023
                time.sleep(pause)
                while not finished.is_set():  # noqa: B023
                    service(Worker).drain(["email"])
                service(Worker).drain(["email"])

        with ThreadPoolExecutor(1) as pool:
            worked = pool.submit(work, number % 10 * PAUSE)
            barrier.wait()
            time.sleep(number // 10 * PAUSE)
            at_stop = stop(admin, path)
            finished.set()
            worked.result(60)
        after = counts(admin, path)
        # Only claimed rows, which were pending when the stop returned, change afterwards.
        assert after["skipped"] == at_stop["skipped"]
        assert after["pending"] == after["failed"] == 0
        assert after["sent"] == at_stop["sent"] + at_stop["pending"] == len(sender.sent)
        # At most one batch, since one worker runs.
        assert at_stop["pending"] <= 2
        stopped_midway += 0 < after["sent"] < LIMIT
    # The rounds have met the worker in its work.
    assert stopped_midway


def add_accounts(app: Flask, count: int) -> None:
    values = ", ".join(
        f"('q{number}@example.com', 'active', 'user', '2026-01-01 00:00:00')"
        for number in range(count)
    )
    with app.app_context(), transaction(session := current_frontdesk.session):
        session.execute(
            text(f"INSERT INTO accounts (email, status, role, created_at) VALUES {values}")
        )
