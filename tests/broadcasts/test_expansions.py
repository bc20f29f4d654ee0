"""Broadcasts above `NOTIFICATIONS__INLINE_RECEIVERS`: a worker stores the receivers' rows."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select, text

from app import Audience, Frontdesk
from app.accounts.service import Accounts
from app.broadcasts import expansions
from app.core.context import current_frontdesk, service
from app.core.db.transaction import transaction
from app.delivery.outbox.enqueue import Outbox
from app.delivery.outbox.models import Delivery, OutgoingMessage
from app.delivery.worker.worker import Worker
from app.notifications.models import EXPAND_BROADCASTS, Expansion, InboxItem, Notification
from app.notifications.retention import NotificationRetention
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.database import noted_queries
from app.workspaces.models import Member
from app.workspaces.service import Workspaces

from ..conftest import Backend, MakeApp, MakePerson, Person
from ..rigs.manual_engine import ManualEngine
from .test_admin_send import PATH, body

LIMIT, ALL = 3, 8

Store = Callable[[int], None]


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(NOTIFICATIONS__INLINE_RECEIVERS=str(LIMIT), CORE__METRICS_ENABLED="1")


@pytest.fixture(autouse=True)
def small_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expansions, "RANGE_SIZE", 2)


@pytest.fixture
def admin(person: MakePerson) -> Api:
    return person("root", role="admin").api()


@pytest.fixture
def people(admin: Api, person: MakePerson) -> list[Person]:
    return [person(f"p{number}", phone=None) for number in range(ALL - 1)]


@pytest.fixture
def store_ranges(app: Flask) -> Store:
    def store(count: int) -> None:
        """Let a worker store this number of ranges and stop."""
        requested = iter([False] * count + [True])
        with app.app_context():
            service(Worker).work(EXPAND_BROADCASTS, stopping=lambda: next(requested))

    return store


def receivers_of(app: Flask, model: Any) -> list[Any]:
    with app.app_context():
        return sorted(current_frontdesk.session.scalars(select(model.receiver_id)))


def row_counts(app: Flask) -> list[int]:
    """Return the number of rows in each table of broadcasts."""
    with app.app_context():
        return [
            current_frontdesk.session.scalar(select(func.count()).select_from(model)) or 0
            for model in (Notification, InboxItem, OutgoingMessage, Delivery, Expansion)
        ]


def send(admin: Api, *channels: str, **more: Any) -> dict[str, Any]:
    sent = admin.post(f"{PATH}/", 201, json=body(channels=["inapp", *channels]) | more).json
    return dict(sent)


def email_counts(admin: Api, sent: dict[str, Any]) -> dict[str, int]:
    return dict(admin.get(f"{PATH}/{sent['id']}").json["deliveries"]["email"])


def test_broadcast_above_the_limit_reaches_each_receiver_once(
    app: Flask, admin: Api, people: list[Person], engine: ManualEngine
) -> None:
    sent = send(admin, "email")
    assert sent["receivers"] == ALL
    assert sent["deliveries"] == {"email": {"pending": ALL, "sent": 0, "failed": 0, "skipped": 0}}
    assert row_counts(app) == [1, 0, 1, 0, 1]
    assert engine.woken == [EXPAND_BROADCASTS]
    assert admin.get(f"{PATH}/{sent['id']}").json == sent
    assert admin.get(f"{PATH}/all").json == [sent]
    engine.deliver()
    everybody = sorted(each.id for each in people) + [sent["sender_id"]]
    assert receivers_of(app, InboxItem) == receivers_of(app, Delivery) == sorted(everybody)
    assert row_counts(app) == [1, ALL, 1, ALL, 0]
    assert email_counts(admin, sent) == {"pending": 0, "sent": ALL, "failed": 0, "skipped": 0}


def test_broadcast_at_the_limit_is_expanded_by_the_request(
    app: Flask, admin: Api, people: list[Person], engine: ManualEngine
) -> None:
    chosen = [each.id for each in people[:LIMIT]]
    send(admin, "email", account_receiver_ids=chosen)
    assert row_counts(app) == [1, LIMIT, 1, LIMIT, 0]
    assert engine.woken == ["email"]


def test_send_takes_no_more_statements_than_before(
    app: Flask, admin: Api, person: MakePerson
) -> None:
    person("ada")
    with noted_queries(app) as inline:
        send(admin, "email")
    chosen = [each.split()[0] for each in inline if "accounts" in each or "frontdesk_" in each]
    # Caller, count; notification, inbox, message; opt-outs, deliveries; counts, audit entry.
    stored = ["SELECT", "SELECT", "INSERT", "INSERT", "INSERT"]
    assert chosen == [*stored, "SELECT", "INSERT", "SELECT", "INSERT"]
    for number in range(LIMIT):
        person(f"p{number}")
    with noted_queries(app) as large:
        send(admin, "email")
    assert len(large) <= len(inline)


def test_long_list_of_ids_is_expanded_by_a_worker(
    app: Flask, admin: Api, people: list[Person], engine: ManualEngine
) -> None:
    chosen = [each.id for each in people[:5]]
    sent = send(admin, "email", account_receiver_ids=[*chosen, chosen[0]])
    assert (sent["receivers"], row_counts(app)) == (5, [1, 0, 1, 0, 1])
    engine.deliver()
    assert receivers_of(app, InboxItem) == receivers_of(app, Delivery) == sorted(chosen)


def test_unknown_receiver_refuses_a_large_broadcast(
    app: Flask, admin: Api, people: list[Person]
) -> None:
    chosen = [*(each.id for each in people), 4711]
    response = admin.post(f"{PATH}/", 422, json=body() | {"account_receiver_ids": chosen})
    assert "4711" in response.response.text
    assert row_counts(app) == [0, 0, 0, 0, 0]


def test_account_created_after_the_broadcast_is_not_in_it(
    app: Flask, admin: Api, people: list[Person], person: MakePerson, store_ranges: Store
) -> None:
    sent = send(admin)
    store_ranges(1)
    late = person("late")
    store_ranges(10)
    assert late.id not in receivers_of(app, InboxItem)
    assert admin.get(f"{PATH}/{sent['id']}").json["receivers"] == ALL


def test_account_deleted_during_expansion_is_not_counted(
    app: Flask, admin: Api, people: list[Person], engine: ManualEngine, store_ranges: Store
) -> None:
    sent = send(admin)
    store_ranges(1)
    gone = people[-1]
    assert app.test_cli_runner().invoke(args=["accounts", "delete", gone.email]).exit_code == 0
    engine.deliver()
    assert gone.id not in receivers_of(app, InboxItem)
    assert admin.get(f"{PATH}/{sent['id']}").json["receivers"] == ALL - 1


def test_counts_sum_up_to_the_receivers_while_a_broadcast_expands(
    app: Flask, admin: Api, people: list[Person], engine: ManualEngine, store_ranges: Store
) -> None:
    sent = send(admin, "email", "sms")
    store_ranges(2)
    assert row_counts(app) == [1, 4, 1, 8, 1]
    deliveries = admin.get(f"{PATH}/{sent['id']}").json["deliveries"]
    assert deliveries["email"] == {"pending": ALL, "sent": 0, "failed": 0, "skipped": 0}
    assert deliveries["sms"] == {"pending": 4, "sent": 0, "failed": 0, "skipped": 4}
    assert admin.get(f"{PATH}/all").json[0]["deliveries"] == deliveries
    engine.deliver()
    deliveries = admin.get(f"{PATH}/{sent['id']}").json["deliveries"]
    assert deliveries["email"] == {"pending": 0, "sent": ALL, "failed": 0, "skipped": 0}
    assert deliveries["sms"] == {"pending": 0, "sent": 0, "failed": 0, "skipped": ALL}


def test_stopped_worker_is_followed_by_another_without_delay(
    app: Flask, admin: Api, people: list[Person], store_ranges: Store
) -> None:
    send(admin, "email")
    for _ in range(ALL):
        store_ranges(1)
    assert row_counts(app) == [1, ALL, 1, ALL, 0]
    assert len(set(receivers_of(app, Delivery))) == ALL


def test_failed_range_is_stored_whole_when_it_is_tried_again(
    app: Flask,
    admin: Api,
    people: list[Person],
    engine: ManualEngine,
    clock: SteppingClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    add_targets, calls = Outbox.add_targets, iter(range(100))

    def fail_once(self: Outbox, *given: Any) -> None:
        add_targets(self, *given)
        if next(calls) == 1:
            raise RuntimeError("lost")

    monkeypatch.setattr(Outbox, "add_targets", fail_once)
    sent = send(admin, "email")
    engine.deliver()
    assert row_counts(app)[1] == 2
    clock.step(seconds=60)
    engine.deliver()
    assert len(set(receivers_of(app, Delivery))) == ALL
    assert row_counts(app) == [1, ALL, 1, ALL, 0]
    assert email_counts(admin, sent)["sent"] == ALL


def test_given_up_expansion_counts_as_failed_until_it_is_retried(
    app: Flask,
    admin: Api,
    people: list[Person],
    engine: ManualEngine,
    clock: SteppingClock,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("never")

    with monkeypatch.context() as patch:
        patch.setattr(Outbox, "add_targets", fail)
        sent = send(admin, "email")
        for _ in range(4):
            engine.deliver()
            clock.step(minutes=4)
    assert "Expansion 1 is given up: RuntimeError" in caplog.text
    assert email_counts(admin, sent) == {"pending": 0, "sent": 0, "failed": ALL, "skipped": 0}
    run = app.test_cli_runner()
    assert "Large broadcasts: 1 failed" in run.invoke(args=["notifications", "status"]).output
    assert 'frontdesk_expansions{state="failed"} 1.0' in metrics(app)
    assert "broadcasts" in run.invoke(args=["frontdesk", "doctor"]).output
    admin.post(f"{PATH}/{sent['id']}/retry")
    engine.deliver()
    assert email_counts(admin, sent) == {"pending": 0, "sent": ALL, "failed": 0, "skipped": 0}


def test_waiting_expansion_shows_in_metrics_and_in_the_age_of_the_queue(
    app: Flask, admin: Api, people: list[Person], clock: SteppingClock
) -> None:
    send(admin)
    clock.step(minutes=10)
    found = metrics(app)
    assert 'frontdesk_expansions{state="pending"} 1.0' in found
    age = next(line for line in found.splitlines() if line.startswith("frontdesk_queue_age"))
    assert float(age.split()[1]) == pytest.approx(600, abs=30)
    doctor = app.test_cli_runner().invoke(args=["frontdesk", "doctor"]).output
    assert "The oldest broadcast has waited for 10 minutes" in doctor


def metrics(app: Flask) -> str:
    return app.test_client().get("/metrics").text


def test_retry_command_continues_a_given_up_expansion(
    app: Flask, admin: Api, people: list[Person], engine: ManualEngine
) -> None:
    send(admin)
    with app.app_context(), transaction(session := current_frontdesk.session):
        session.execute(text("UPDATE frontdesk_expansions SET state = 'failed'"))
    engine.deliver()
    assert row_counts(app)[1] == 0
    run = app.test_cli_runner()
    assert run.invoke(args=["notifications", "retry"]).exit_code == 0
    assert run.invoke(args=["notifications", "send"]).exit_code == 0
    assert row_counts(app) == [1, ALL, 0, 0, 0]


def test_deleted_broadcast_expands_no_further_and_leaves_nothing(
    app: Flask, admin: Api, people: list[Person], engine: ManualEngine, store_ranges: Store
) -> None:
    sent = send(admin, "email")
    store_ranges(2)
    assert row_counts(app)[1] == 4
    assert admin.delete(f"{PATH}/{sent['id']}").json["receivers"] == ALL
    assert row_counts(app) == [0, 0, 0, 0, 0]
    engine.deliver()
    assert row_counts(app) == [0, 0, 0, 0, 0]


def test_broadcast_deleted_at_the_same_time_leaves_nothing(
    app: Flask,
    admin: Api,
    person: MakePerson,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(expansions, "RANGE_SIZE", 1)
    with app.app_context():
        values = ", ".join(
            f"('q{number}@example.com', 'active', 'user', '2026-01-01 00:00:00')"
            for number in range(300)
        )
        with transaction(session := current_frontdesk.session):
            session.execute(
                text(f"INSERT INTO accounts (email, status, role, created_at) VALUES {values}")
            )
    for pause in (0.0, 0.05, 0.2):
        sent = send(admin, "email")

        def expand() -> None:
            with app.app_context():
                service(Worker).work(EXPAND_BROADCASTS)

        thread = threading.Thread(target=expand)
        thread.start()
        time.sleep(pause)
        admin.delete(f"{PATH}/{sent['id']}")
        thread.join(60)
        assert not thread.is_alive()
        assert row_counts(app) == [0, 0, 0, 0, 0]
    assert "Expansion" not in caplog.text


def test_prune_keeps_a_broadcast_that_expands(
    app: Flask, admin: Api, people: list[Person], engine: ManualEngine, clock: SteppingClock
) -> None:
    send(admin)
    clock.step(days=10)
    with app.app_context():
        assert service(NotificationRetention).prune(days=5) == 0
    engine.deliver()
    with app.app_context():
        assert service(NotificationRetention).prune(days=5) == 1
    assert row_counts(app) == [0, 0, 0, 0, 0]


@pytest.mark.parametrize("is_large", [False, True], ids=["inline", "expanded"])
def test_audience_is_chosen_by_its_conditions(
    backend: Backend, make_app: MakeApp, engine: ManualEngine, person: MakePerson, is_large: bool
) -> None:
    app = make_app(NOTIFICATIONS__INLINE_RECEIVERS="1" if is_large else "100")
    active = [person(f"a{number}", role="admin") for number in range(3)]
    inactive = [person(f"i{number}", status="inactive") for number in range(3)]
    with app.app_context(), transaction(current_frontdesk.session):
        for each, locale in zip([*active, inactive[0]], ["de", "de-AT", "den", "de"], strict=True):
            account: Any = service(Accounts).by_id(each.id)
            account.locale = locale
            if locale == "de-AT":
                account.email_unverified_since = current_frontdesk.clock.now()
            if locale == "den":
                account.status, account.suspended_until = "suspended", account.created_at
    with app.app_context():
        workspace = service(Workspaces).create_common("Office", "office").id
        for each, status in zip([*active, inactive[0]], ["active"] * 3 + ["invited"], strict=True):
            member = Member(
                workspace_id=workspace,
                account_id=each.id,
                type="guest",
                status=status,
                created_at=current_frontdesk.clock.now(),
            )
            with transaction(session := current_frontdesk.session):
                session.add(member)
    for audience, expected in [
        (Audience(status="inactive"), inactive),
        (Audience(role="admin"), active),
        (Audience(workspace=workspace), active),
        (Audience(workspace=workspace, ids=[active[0].id, active[1].id, inactive[0].id]),
         active[:2]),
        (Audience(status="active", role="user"), []),
        (Audience(status="active"), active),
        (Audience(status="suspended"), []),
        (Audience(active=True), active),
        (Audience(active=False), inactive),
        (Audience(active=True, verified=True), [active[0], active[2]]),
        (Audience(verified=False), [active[1]]),
        (Audience(active=True, language="de"), active[:2]),
        (Audience(), [*active, *inactive]),
    ]:  # fmt: skip
        with app.app_context():
            sent = Frontdesk().notify("Hello", "x", receivers=audience)
            assert sent.notification is not None
            assert sent.notification.receivers == len(expected), audience
            notification_id = sent.notification.id
        is_expanded = is_large and len(expected) > 1
        assert row_counts(app)[-1] == is_expanded
        engine.deliver()
        with app.app_context():
            rows = select(InboxItem.receiver_id).where(InboxItem.notification_id == notification_id)
            found = sorted(current_frontdesk.session.scalars(rows))
        assert found == sorted(each.id for each in expected), audience


def test_hook_decides_the_receivers_of_a_large_broadcast_once(
    app: Flask, admin: Api, people: list[Person], engine: ManualEngine
) -> None:
    requested = []

    def all_but_the_first(accounts: list[Any], _session: Any) -> list[Any]:
        requested.append(len(accounts))
        return accounts[1:]

    with app.app_context():
        current_frontdesk.hooks.add("receivers", all_but_the_first)
    sent = send(admin)
    engine.deliver()
    assert (sent["receivers"], requested) == (ALL - 1, [ALL])
    assert len(set(receivers_of(app, InboxItem))) == ALL - 1
