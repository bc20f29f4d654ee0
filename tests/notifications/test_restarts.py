"""Queued emails after a restart: a server process sends them when it begins to serve."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from threading import Event

import pytest
from flask import Flask

from app import Frontdesk
from app.accounts.account import Account
from app.delivery.worker.engine import ThreadEngine
from app.delivery.worker.worker import Worker
from app.extension.options import Parts

from ..conftest import Backend, only_on
from ..rigs.backends import free_port
from ..rigs.hosts import HostSettings, plain_app
from ..rigs.manual_engine import ManualEngine
from ..rigs.processes import Service, kill, within
from ..rigs.servers import GUNICORN
from ..rigs.smtp import Sink
from .conftest import Notify

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

GUNICORN_APP = (*GUNICORN, "wsgi:app")
FLASK = ("flask", "--app", "wsgi", "run")
SERVERS = {
    "gunicorn": GUNICORN_APP,
    "gunicorn, stock worker class": (*GUNICORN_APP, "-k", "gthread"),
    "flask run": FLASK,
    "flask run with the reloader": (*FLASK, "--reload"),
}
EMAILS = 40


@pytest.fixture
def installation(backend: Backend, sink: Sink, tmp_path: Path) -> Iterator[Service]:
    port = free_port()
    service = Service(
        backend,
        tmp_path,
        MAIL_SERVER="127.0.0.1",
        MAIL_PORT=str(sink.port),
        BIND=f"127.0.0.1:{port}",
        FLASK_RUN_PORT=str(port),
    )
    yield service
    service.engine.dispose()


@pytest.mark.parametrize("server", SERVERS.values(), ids=SERVERS)
def test_queued_emails_are_sent_after_a_restart_without_a_request(
    installation: Service, sink: Sink, notify: Notify, server: tuple[str, ...]
) -> None:
    installation.add_accounts(EMAILS)
    notify(channels=["inapp", "email"])
    process = installation.start(*server)
    try:
        within(60, lambda: len(set(sink.receivers)) == EMAILS)
        # The master of gunicorn and the reloader send no emails.
        if server != FLASK:
            assert os.listdir(f"/proc/{process.pid}/task") == [str(process.pid)]
    finally:
        kill(process)
    assert len(sink.receivers) == EMAILS


@only_on("postgresql")
def test_rows_of_a_killed_server_are_sent_by_the_next_within_30_seconds(
    installation: Service, sink: Sink, notify: Notify
) -> None:
    installation.add_accounts(EMAILS)
    notify(channels=["inapp", "email"])
    sink.before_taking = lambda: time.sleep(0.05)
    first = installation.start(*GUNICORN_APP)
    try:
        within(60, lambda: len(sink.received) >= 5)
    finally:
        kill(first)
    sink.before_taking = lambda: None
    second = installation.start(*GUNICORN_APP)
    try:
        within(30, lambda: len(set(sink.receivers)) == EMAILS)
    finally:
        kill(second)
    # The delivery that the killed server was sending.
    assert sum(Counter(sink.receivers).values()) <= EMAILS + 1


class RecordingEngine(ManualEngine):
    def __init__(self) -> None:
        super().__init__()
        self.starts = 0

    def start(self) -> None:
        self.starts += 1


def test_deliveries_start_at_the_first_request_or_when_serving() -> None:
    engine, frontdesk = RecordingEngine(), Frontdesk()
    host, db = plain_app()
    parts = Parts(engine=engine)
    frontdesk.init_app(host, db, settings=HostSettings(), account_model=Account, parts=parts)
    assert engine.starts == 0
    frontdesk.start_deliveries(host)
    assert engine.starts == 1
    for _ in range(2):
        host.test_client().get("/")
        assert engine.starts == 2
    child = os.fork()
    if child == 0:
        host.test_client().get("/")
        os._exit(0 if engine.starts == 3 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


class CountingWorker(Worker):
    """Has one channel, and counts calls of `work`."""

    def __init__(self) -> None:
        self.asked = Event()

    def names(self) -> list[str]:
        return ["email"]

    def work(self, name: str, **_: object) -> float | None:
        self.asked.set()
        return None

    def drain(self, names: Iterable[str] | None = None) -> None:
        raise AssertionError


def test_forked_process_starts_its_engine() -> None:
    engine, worker = ThreadEngine(), CountingWorker()
    engine.bind(Flask("host"), worker)
    engine.start()
    assert worker.asked.wait(10)
    child = os.fork()
    if child == 0:
        worker.asked.clear()
        is_quiet = not worker.asked.wait(1.5)
        engine.start()
        os._exit(0 if is_quiet and worker.asked.wait(10) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    engine.stop(5)
