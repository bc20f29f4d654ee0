"""Workers of an application: of its Celery object, or of `frontdesk.celery`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from celery import Celery
from flask import Flask

from app import Frontdesk, Parts, SetupError
from app.accounts.account import Account
from app.delivery.outbox.models import Delivery
from app.testing.people import make_person

from ..rigs import celery_host
from ..rigs.backends import redis_server
from ..rigs.hosts import HostSettings, host_with, plain_app
from ..rigs.processes import within
from ..rigs.servers import checkout_environment

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.fixture(params=["own", "ours"])
def pinboard(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Flask, Frontdesk]]:
    """The process that serves requests."""
    with redis_server(tmp_path) as url:
        monkeypatch.setenv("BROKER_URL", url)
        monkeypatch.setenv("PINBOARD_FOLDER", str(tmp_path))
        monkeypatch.setenv("PINBOARD_CELERY", request.param)
        monkeypatch.setattr(celery_host, "jobs", Celery("pinboard", broker=url))
        app, frontdesk, _ = celery_host.make_pinboard()
        yield app, frontdesk


@contextmanager
def worker(log: Path, *options: str) -> Iterator[None]:
    names = ("BROKER_URL", "PINBOARD_FOLDER", "PINBOARD_CELERY")
    command = ["-m", "celery", "-A", "tests.rigs.celery_host:celery", "worker", "-P", "solo"]
    with log.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, *command, *options],
            env=checkout_environment(
                PINBOARD_WORKER="1", **{name: os.environ[name] for name in names}
            ),
            stdout=output,
            stderr=output,
        )
        try:
            yield
        finally:
            process.terminate()
            process.wait(timeout=30)


def findings(app: Flask) -> list[str]:
    output = app.test_cli_runner().invoke(args=["frontdesk", "doctor", "--json"]).stdout
    found = json.loads(output.splitlines()[-1])["findings"]
    return [each["message"] for each in found if each["check"] in ("broker", "workers")]


def waiting(app: Flask) -> int:
    """Return the number of stored messages: sent ones without a subject are deleted."""
    with app.app_context():
        session = app.extensions["sqlalchemy"].session
        count: int = session.query(Delivery).filter(Delivery.state != "sent").count()
        return count


def test_applications_workers_deliver_and_doctor_detects_missing_workers(
    pinboard: tuple[Flask, Frontdesk], tmp_path: Path
) -> None:
    app, frontdesk = pinboard
    ada = make_person(app, "ada")
    (text,) = findings(app)
    assert text.startswith("No Celery worker consumes the queue '")
    with app.app_context():
        frontdesk.notify("Hello", "You", channels=["email"], receivers=[ada.id])
    assert waiting(app) == 1
    with worker(tmp_path / "worker.log"):
        within(60, lambda: waiting(app) == 0)
        assert findings(app) == []
    assert list((tmp_path / "outbox").glob("*.eml"))


@pytest.mark.parametrize("pinboard", ["own"], indirect=True)
def test_worker_of_another_queue_is_not_counted(
    pinboard: tuple[Flask, Frontdesk], tmp_path: Path
) -> None:
    app, _ = pinboard
    with worker(tmp_path / "worker.log", "-Q", "pictures"):
        control: Any = celery_host.jobs.control
        within(60, lambda: control.ping(timeout=1.0) != [])
        (text,) = findings(app)
    assert "the queue 'celery'" in text


def test_applications_celery_configuration_is_unchanged() -> None:
    jobs = Celery("pinboard", broker="memory://")
    before = dict(jobs.conf.items())
    host_with(parts=Parts(celery=jobs))
    after = {name: value for name, value in jobs.conf.items() if name in before}
    assert after == before


@pytest.mark.parametrize("pinboard", ["own"], indirect=True)
def test_eager_tasks_need_no_broker(pinboard: tuple[Flask, Frontdesk]) -> None:
    app, frontdesk = pinboard
    jobs = celery_host.jobs
    jobs.conf.update(task_always_eager=True, broker_url="redis://127.0.0.1:1/0")
    ada = make_person(app, "ada")
    with app.app_context():
        frontdesk.notify("Hello", "You", channels=["email"], receivers=[ada.id])
    within(60, lambda: waiting(app) == 0)


def test_missing_broker_names_the_setting() -> None:
    frontdesk = Frontdesk()
    host = host_with(frontdesk=frontdesk)
    with pytest.raises(
        SetupError, match=r"or give .* a Celery application: parts=Parts\(celery=…\)"
    ):
        _ = frontdesk.celery
    assert host is not None


def test_several_applications_are_ambiguous() -> None:
    frontdesk, jobs = Frontdesk(), Celery("pinboard")
    hosts = []
    for _ in range(2):
        host, db = plain_app()
        frontdesk.init_app(
            host, db, settings=HostSettings(), account_model=Account, parts=Parts(celery=jobs)
        )
        hosts.append(host)
    with pytest.raises(SetupError, match="needs exactly one application"):
        _ = frontdesk.celery
    with hosts[1].app_context():
        assert frontdesk.celery is jobs
