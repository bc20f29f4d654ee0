"""Delivery over a real SMTP server, and its failures."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from app.accounts.service import Accounts
from app.core.context import current_frontdesk, service
from app.delivery.mail import smtp
from app.delivery.outbox import enqueue
from app.delivery.outbox.enqueue import counts_by_channel
from app.delivery.outbox.models import Delivery
from app.delivery.worker import batch as batch_module
from app.delivery.worker.worker import Worker
from app.testing.clock import SteppingClock

from ..conftest import MakeApp, MakePerson
from ..rigs.manual_engine import ManualEngine
from ..rigs.smtp import Sink, free_port, smtp_sink
from .conftest import Notify

States = Callable[[], dict[str, str]]


@pytest.fixture
def sink() -> Iterator[Sink]:
    with smtp_sink() as sink:
        yield sink


@pytest.fixture
def app(make_app: MakeApp, sink: Sink) -> Flask:
    return make_app(
        MAIL_SERVER="127.0.0.1",
        MAIL_PORT=str(sink.port),
        CORE__CLIENT_HOST="https://client.example",
    )


@pytest.fixture
def people(person: MakePerson) -> list[int]:
    return [person(name).id for name in ("ada", "bob", "carol")]


@pytest.fixture
def states(app: Flask) -> States:
    """The state of each delivery by the name of its receiver."""

    def states() -> dict[str, str]:
        with app.app_context():
            account = service(Accounts).model
            rows = current_frontdesk.session.execute(
                select(account.email, Delivery.state).join(
                    Delivery, Delivery.receiver_id == account.id
                )
            )
            return {email.partition("@")[0]: state for email, state in rows}

    return states


@pytest.mark.usefixtures("people")
def test_all_emails_use_one_connection(
    notify: Notify, engine: ManualEngine, sink: Sink, states: States
) -> None:
    notify("Closed", "On Friday.", channels=["inapp", "email"])
    assert engine.woken == ["email"]
    engine.deliver()
    assert sorted(sink.receivers) == ["ada@example.com", "bob@example.com", "carol@example.com"]
    assert sink.connections == 1
    assert set(states().values()) == {"sent"}


@pytest.mark.usefixtures("people")
def test_email_has_the_template_values(notify: Notify, engine: ManualEngine, sink: Sink) -> None:
    notify("<b>Closed</b>", "On <i>Friday</i>.\nAll day.", channels=["email"])
    engine.deliver()
    mail = sink.received[0]
    assert mail.message["Subject"] == "<b>Closed</b>"
    html = mail.part("html")
    assert "&lt;b&gt;Closed&lt;/b&gt;" in html
    assert "On &lt;i&gt;Friday&lt;/i&gt;." in html
    assert mail.to in html
    assert "https://client.example/dashboard" in html
    text = mail.part("plain")
    assert "On <i>Friday</i>." in text
    assert "https://client.example/dashboard" in text


@pytest.mark.usefixtures("people")
def test_application_can_use_its_template_with_values(
    app: Flask, notify: Notify, engine: ManualEngine, sink: Sink
) -> None:
    from jinja2 import DictLoader

    app.jinja_loader = DictLoader({"offer.html": "{{ title }}: {{ percent }} for {{ email }}"})
    notify(channels=["email"], context={"template_file": "offer.html", "percent": 20})
    engine.deliver()
    assert sink.received[0].part("html").strip() == f"Hello: 20 for {sink.receivers[0]}"


@pytest.mark.usefixtures("people")
def test_rejected_receiver_fails_and_others_get_the_email(
    notify: Notify, engine: ManualEngine, sink: Sink, states: States, clock: SteppingClock
) -> None:
    sink.receiver_answer = lambda to: "550 unknown" if to.startswith("bob") else None
    notify(channels=["inapp", "email"])
    engine.deliver()
    assert states() == {"ada": "sent", "bob": "failed", "carol": "sent"}
    clock.step(days=1)
    engine.deliver()
    assert sorted(sink.receivers) == ["ada@example.com", "carol@example.com"]


@pytest.mark.usefixtures("people")
def test_temporary_failure_is_retried_within_15_seconds(
    notify: Notify, engine: ManualEngine, sink: Sink, states: States, clock: SteppingClock
) -> None:
    sink.receiver_answer = lambda to: "451 later" if to.startswith("bob") else None
    notify(channels=["inapp", "email"])
    engine.deliver()
    assert states() == {"ada": "sent", "bob": "pending", "carol": "sent"}
    sink.receiver_answer = lambda _to: None
    clock.step(seconds=15)
    engine.deliver()
    assert states()["bob"] == "sent"
    assert len(sink.received) == 3


@pytest.mark.usefixtures("people")
def test_lasting_failure_is_given_up_after_the_last_attempt(
    notify: Notify, engine: ManualEngine, sink: Sink, states: States, clock: SteppingClock
) -> None:
    sink.receiver_answer = lambda to: "451 later" if to.startswith("bob") else None
    notify(channels=["inapp", "email"])
    for _ in range(batch_module.MAX_ATTEMPTS):
        engine.deliver()
        clock.step(hours=2)
    assert states() == {"ada": "sent", "bob": "failed", "carol": "sent"}


@pytest.mark.usefixtures("people")
def test_dropped_connection_repeats_no_email(
    notify: Notify, engine: ManualEngine, sink: Sink, states: States, clock: SteppingClock
) -> None:
    # With the second email, to any receiver: the database returns rows in any order.
    sink.message_answer = lambda _to: "drop" if sink.received else None
    notify(channels=["inapp", "email"])
    engine.deliver()
    assert sorted(states().values()) == ["pending", "pending", "sent"]
    sink.message_answer = lambda _to: None
    clock.step(seconds=15)
    engine.deliver()
    assert sorted(sink.receivers) == ["ada@example.com", "bob@example.com", "carol@example.com"]


@pytest.mark.usefixtures("people")
def test_unavailable_server_counts_no_attempt(
    make_app: MakeApp, engine: ManualEngine, clock: SteppingClock
) -> None:
    port = free_port()
    app = make_app(MAIL_SERVER="127.0.0.1", MAIL_PORT=str(port))
    with app.app_context():
        from app.frontdesk import Frontdesk

        Frontdesk().notify("Hello", "x", channels=["inapp", "email"])
        for _ in range(30):
            assert service(Worker).work("email") != 0.0
            clock.step(seconds=20)
        rows = current_frontdesk.session.execute(select(Delivery.state, Delivery.attempts)).all()
        assert {tuple(row) for row in rows} == {("pending", 0)}
        with smtp_sink(port) as sink:
            engine.deliver()
            assert len(sink.received) == 3


@pytest.fixture
def without_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ignore pauses: they use the machine's clock, which the test does not control."""
    monkeypatch.setattr(smtp, "FIRST_SECONDS", 0.0)


@pytest.mark.usefixtures("people")
def test_rejected_sender_fails_no_delivery(
    notify: Notify, engine: ManualEngine, sink: Sink, states: States, clock: SteppingClock
) -> None:
    sink.receiver_answer = lambda _to: "504 5.5.2 <vm>: Helo command rejected"
    notify(channels=["inapp", "email"])
    for _ in range(3 * batch_module.MAX_ATTEMPTS):
        engine.deliver()
        clock.step(hours=1.5)
    assert set(states().values()) == {"pending"}
    sink.receiver_answer = lambda _to: None
    engine.deliver()
    assert set(states().values()) == {"sent"}


@pytest.mark.usefixtures("people", "without_pause")
def test_sender_rejected_for_two_days_fails_deliveries(
    notify: Notify, engine: ManualEngine, sink: Sink, states: States, clock: SteppingClock
) -> None:
    sink.sender_answer = lambda _from: "530 5.7.0 Authentication required"
    notify(channels=["inapp", "email"])
    clock.step(days=2)
    for _ in range(3):
        engine.deliver()
    assert set(states().values()) == {"failed"}


@pytest.mark.usefixtures("people")
def test_sender_rejected_for_one_receiver_does_not_stop_others(
    notify: Notify, engine: ManualEngine, sink: Sink, states: States, clock: SteppingClock
) -> None:
    rejected = "554 5.7.1 Relay access denied"
    sink.receiver_answer = lambda to: rejected if to.startswith("ada") else None
    notify(channels=["inapp", "email"])
    engine.deliver()
    clock.step(seconds=2)
    engine.deliver()
    assert states() == {"ada": "pending", "bob": "sent", "carol": "sent"}


def test_deleted_account_is_skipped(
    app: Flask, notify: Notify, engine: ManualEngine, sink: Sink, people: list[int]
) -> None:
    notify(channels=["inapp", "email"])
    with app.app_context():
        accounts = service(Accounts)
        accounts.delete(accounts.get("bob@example.com"))
    engine.deliver()
    assert sorted(sink.receivers) == ["ada@example.com", "carol@example.com"]
    with app.app_context():
        gone = select(Delivery.state, Delivery.reason).where(Delivery.receiver_id == people[1])
        (row,) = current_frontdesk.session.execute(gone).all()
        assert tuple(row) == ("skipped", "The account was deleted")


@pytest.mark.usefixtures("people")
def test_disabled_emails_are_skipped(
    make_app: MakeApp, engine: ManualEngine, sink: Sink, capsys: pytest.CaptureFixture[str]
) -> None:
    from app.frontdesk import Frontdesk

    app = make_app(CORE__EMAILS_ENABLED="false", MAIL_SERVER="127.0.0.1", MAIL_PORT=str(sink.port))
    with app.app_context():
        sent = Frontdesk().notify("Hello", "x", channels=["inapp", "email"])
    assert sent.deliveries["email"]["skipped"] == 3
    engine.deliver()
    assert sink.received == []
    assert "Emails are disabled" in capsys.readouterr().err


@pytest.mark.usefixtures("people")
def test_rows_can_be_claimed_after_the_lease(
    app: Flask, notify: Notify, engine: ManualEngine, sink: Sink, clock: SteppingClock
) -> None:
    notify(channels=["inapp", "email"])
    with app.app_context():
        batches = service(Worker).batches
        assert batches.claim("email", 2) is not None
        engine.deliver()
        assert len(sink.received) == 1
        clock.step(seconds=31)
        engine.deliver()
    assert sorted(sink.receivers) == ["ada@example.com", "bob@example.com", "carol@example.com"]


@pytest.mark.usefixtures("people")
def test_worker_without_lease_records_nothing(
    app: Flask, notify: Notify, clock: SteppingClock
) -> None:
    notify(channels=["inapp", "email"])
    with app.app_context():
        batches = service(Worker).batches
        slow = batches.claim("email", 3)
        assert slow is not None
        clock.step(seconds=31)
        quick = batches.claim("email", 3)
        assert quick is not None
        batches.settle(slow, slow.deliveries[0], "failed", reason="too late")
        batches.settle(quick, quick.deliveries[0], "sent")
        counts = counts_by_channel(current_frontdesk.session)
        assert counts == {"email": {"pending": 2, "sent": 1}}


def test_single_message_is_sent_before_a_broadcast(
    app: Flask, notify: Notify, person: MakePerson, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(enqueue, "FEW_RECEIVERS", 2)
    ids = [person(f"p{number}").id for number in range(4)]
    notify("to all", channels=["email"])
    notify("to one", channels=["email"], receivers=ids[:1])
    with app.app_context():
        batch = service(Worker).batches.claim("email", 1)
        assert batch is not None
        assert batch.deliveries[0].message.title == "to one"


@pytest.mark.usefixtures("people")
def test_sent_message_without_inapp_is_deleted(
    app: Flask, notify: Notify, engine: ManualEngine, sink: Sink
) -> None:
    from app.delivery.outbox.models import OutgoingMessage
    from app.notifications.models import InboxItem, Notification

    assert notify(channels=["email"]).notification is None
    engine.deliver()
    assert len(sink.received) == 3
    with app.app_context():
        for model in (Notification, InboxItem, OutgoingMessage, Delivery):
            assert current_frontdesk.session.scalars(select(model)).all() == []


@pytest.mark.usefixtures("people")
def test_application_can_add_a_channel(
    app: Flask, notify: Notify, engine: ManualEngine, states: States
) -> None:
    seen: list[tuple[str, Any]] = []
    with app.app_context():
        current_frontdesk.hooks.add(
            "channel",
            lambda message, receiver: seen.append((message.title, receiver.email)),
            "push",
        )
    notify("Hi", channels=["inapp", "push"])
    engine.deliver()
    assert len(seen) == 3
    assert set(states().values()) == {"sent"}


@pytest.mark.usefixtures("people")
def test_failed_deliveries_are_retried_by_the_command(
    app: Flask, notify: Notify, sink: Sink, engine: ManualEngine, states: States
) -> None:
    sink.receiver_answer = lambda to: "550 no" if to.startswith("bob") else None
    notify(channels=["inapp", "email"])
    engine.deliver()
    sink.receiver_answer = lambda _to: None
    runner = app.test_cli_runner()
    output = runner.invoke(args=["notifications", "status"]).output
    assert "email: 1 failed, 2 sent" in output
    assert runner.invoke(args=["notifications", "retry"]).output.startswith("1 failed deliver")
    output = runner.invoke(args=["notifications", "send"]).output
    assert "email: 3 sent" in output
    assert states()["bob"] == "sent"


def test_reasons_and_logs_do_not_contain_the_message(
    app: Flask,
    notify: Notify,
    sink: Sink,
    engine: ManualEngine,
    people: list[int],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, logger="app")
    sink.receiver_answer = lambda _to: "451 later"
    notify("Title", "the secret plan", channels=["inapp", "email"], receivers=people)
    engine.deliver()
    assert "the secret plan" not in caplog.text
