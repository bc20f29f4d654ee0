"""Concurrent workers and writers, and a recovery during a broadcast."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask
from sqlalchemy import create_engine, text

from app.core.context import current_frontdesk, service
from app.delivery.mail.mailer import open_mailer
from app.delivery.mail.one_off import BackgroundMail
from app.delivery.message import Email
from app.delivery.worker import worker as worker_module
from app.delivery.worker.engine import ThreadEngine
from app.delivery.worker.worker import Worker
from app.testing.client import Api

from ..conftest import Backend, MakeApp, MakePerson, only_on
from ..rigs.processes import Service
from ..rigs.smtp import Sink, smtp_sink
from .conftest import Notify


@pytest.fixture
def sink() -> Iterator[Sink]:
    with smtp_sink() as sink:
        yield sink


@pytest.fixture
def app(make_app: MakeApp, sink: Sink) -> Flask:
    return make_app(MAIL_SERVER="127.0.0.1", MAIL_PORT=str(sink.port))


@pytest.fixture
def people(backend: Backend, tmp_path: Path) -> None:
    service = Service(backend, tmp_path)
    service.add_accounts(60)
    service.engine.dispose()


@pytest.mark.usefixtures("people")
def test_concurrent_workers_send_each_delivery_once(
    app: Flask, notify: Notify, sink: Sink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_module, "BATCH_SIZE", 5)
    notify(channels=["inapp", "email"])

    def work() -> None:
        with app.app_context():
            service(Worker).drain(["email"])

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert Counter(sink.receivers) == {f"p{number}@example.com": 1 for number in range(60)}
    assert sink.connections >= 12


@only_on("postgresql")
@pytest.mark.usefixtures("people")
def test_command_sends_deliveries_claimed_by_others_for_a_moment(
    app: Flask, backend: Backend, notify: Notify, sink: Sink
) -> None:
    notify(channels=["inapp", "email"])
    engine = create_engine(backend.database_url)
    with engine.connect() as other:
        other.execute(text("SELECT id FROM frontdesk_deliveries FOR UPDATE"))
        release = threading.Timer(0.5, other.rollback)
        release.start()
        app.test_cli_runner().invoke(args=["notifications", "send"])
        release.join()
    engine.dispose()
    assert len(sink.receivers) == 60


@pytest.mark.usefixtures("people")
def test_recovery_email_does_not_wait_for_a_broadcast(
    app: Flask, notify: Notify, sink: Sink
) -> None:
    sink.before_taking = lambda: time.sleep(0.01)
    engine = ThreadEngine()
    with app.app_context():
        queue = BackgroundMail(
            open_mailer(app, current_frontdesk.settings), current_frontdesk.clock.now
        )
        engine.bind(app, service(Worker))
    try:
        notify(channels=["email"])
        engine.wake(["email"])
        sink.wait_for(3)
        queue.send_soon(Email("forgot@example.com", "Reset", "token", ""))
        sink.wait_for(61, seconds=30)
    finally:
        engine.stop(5)
    assert sink.receivers.index("forgot@example.com") < 30


@only_on("sqlite")
def test_eight_concurrent_writers_get_no_locked_database(
    app: Flask, person: MakePerson, notify: Notify
) -> None:
    people = [person(f"w{number}", role="admin") for number in range(8)]
    notify()
    apis = [Api(app, token=each.token()) for each in people]
    body = {"data": {"title": "t", "message": "m", "channels": ["inapp", "email"]}}
    wrong: list[object] = []

    def write(api: Api) -> None:
        try:
            for _ in range(10):
                api.patch("/notifications/1/mark")
                api.patch("/notifications/mark-all?status=true")
                api.post("/admin/notifications", 201, json=body)
        except BaseException as error:
            wrong.append(error)

    writers = [threading.Thread(target=write, args=(api,)) for api in apis]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(120)
    assert wrong == []
