"""Celery as the engine, with both brokers."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from flask import Flask

from app import create_app
from app.core.settings import load
from app.delivery.celery_engine import CeleryEngine, celery_of
from app.delivery.engine import Engine
from app.extension import Frontdesk
from app.testing.smtp import Sink, smtp_sink
from config import Settings

from ..backends import AMQP, free_port, rabbitmq_queue, redis_server
from ..conftest import Backend, only_on
from ..lines import Line
from .processes import Service, within

pytestmark = [only_on("postgresql"), pytest.mark.filterwarnings("ignore::ResourceWarning")]


@pytest.fixture
def sink() -> Iterator[Sink]:
    with smtp_sink() as sink:
        yield sink


@pytest.fixture
def rabbitmq() -> Iterator[dict[str, str]]:
    with rabbitmq_queue() as queue:
        yield {"CORE__CELERY_BROKER_URL": AMQP, "NOTIFICATIONS__QUEUE": queue}


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[dict[str, str]]:
    with redis_server(tmp_path) as url:
        yield {"CORE__CELERY_BROKER_URL": url}


def make_web_app(environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> Flask:
    with monkeypatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        return create_app(load(Settings))


def notify(installation: Service, monkeypatch: pytest.MonkeyPatch) -> float:
    """Send as a web process does; says how long it took."""
    app = make_web_app(installation.environment, monkeypatch)
    with app.app_context():
        begin = time.monotonic()
        Frontdesk().notify("Hello", "x", channels=["inapp", "email"])
        took = time.monotonic() - begin
        assert isinstance(app.extensions["frontdesk"].services[Engine], CeleryEngine)
    return took


@pytest.mark.parametrize("broker", ["redis", "rabbitmq"])
def test_a_worker_delivers(
    request: pytest.FixtureRequest,
    backend: Backend,
    sink: Sink,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    broker: str,
) -> None:
    settings = request.getfixturevalue(broker)
    installation = Service(
        backend, tmp_path, MAIL_SERVER="127.0.0.1", MAIL_PORT=str(sink.port), **settings
    )
    installation.people(250)
    with installation.worker():
        notify(installation, monkeypatch)
        sink.wait_for(250, seconds=90)
        within(15, lambda: installation.count("deliveries WHERE state = 'sent'") == 250)
    assert len(set(sink.receivers)) == len(sink.receivers) == 250
    installation.engine.dispose()


def test_a_worker_killed_in_mid_batch_loses_nothing(
    rabbitmq: dict[str, str],
    backend: Backend,
    sink: Sink,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    installation = Service(
        backend, tmp_path, MAIL_SERVER="127.0.0.1", MAIL_PORT=str(sink.port), **rabbitmq
    )
    installation.people(250)
    sink.before_taking = lambda: time.sleep(0.01)
    notify(installation, monkeypatch)
    kills = (20, 130)
    for mails in kills:
        with installation.worker(processes=1):
            sink.wait_for(mails, seconds=60)
        assert len(sink.received) < 250
        installation.end_leases()
    with installation.worker(processes=1):
        within(60, lambda: installation.count("deliveries WHERE state = 'sent'") == 250)
    assert len(set(sink.receivers)) == 250
    # For each that was killed, the one in its hands.
    assert len(sink.receivers) <= 250 + len(kills)
    assert installation.count("inbox") == installation.count("deliveries") == 250
    assert installation.count("(SELECT DISTINCT receiver_id FROM inbox) AS receivers") == 250
    installation.engine.dispose()


def test_a_broker_that_is_gone_holds_up_no_request_and_is_found_again(
    backend: Backend, sink: Sink, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = free_port()
    installation = Service(
        backend,
        tmp_path,
        MAIL_SERVER="127.0.0.1",
        MAIL_PORT=str(sink.port),
        CORE__CELERY_BROKER_URL=f"redis://127.0.0.1:{port}/0",
    )
    installation.people(5)
    assert notify(installation, monkeypatch) < 2
    with redis_server(tmp_path, port), installation.worker():
        sink.wait_for(5, seconds=90)
    installation.engine.dispose()


@pytest.mark.parametrize(("broker", "seconds"), [("redis", 25), ("rabbitmq", 60)])
def test_connections_that_died_without_a_word_are_replaced(
    request: pytest.FixtureRequest,
    backend: Backend,
    sink: Sink,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    broker: str,
    seconds: float,
) -> None:
    settings = request.getfixturevalue(broker)
    url = urlsplit(settings["CORE__CELERY_BROKER_URL"])
    line = Line(url.hostname or "127.0.0.1", url.port or 5672)
    settings["CORE__CELERY_BROKER_URL"] = url.geturl().replace(f":{url.port}", f":{line.port}")
    installation = Service(
        backend, tmp_path, MAIL_SERVER="127.0.0.1", MAIL_PORT=str(sink.port), **settings
    )
    installation.people(5)
    with installation.worker():
        notify(installation, monkeypatch)
        sink.wait_for(5, seconds=90)
        line.forget()
        assert notify(installation, monkeypatch) < 2
        sink.wait_for(10, seconds=seconds)
    line.cut()
    installation.engine.dispose()


def options_for(url: str, backend: Backend, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    settings = {"CORE__DATABASE_URL": backend.database_url, "CORE__CELERY_BROKER_URL": url}
    app = make_web_app(settings, monkeypatch)
    options: dict[str, Any] = celery_of(app).conf.broker_transport_options
    return options


@pytest.mark.parametrize("url", ["redis://127.0.0.1", "rediss://127.0.0.1", "sentinel://127.0.0.1"])
def test_over_redis_no_wait_is_for_ever_and_a_job_needs_no_receipt(
    backend: Backend, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    options = options_for(url, backend, monkeypatch)
    waits = ("socket_connect_timeout", "socket_timeout", "health_check_interval")
    assert all(0 < options[name] <= 10 for name in waits)
    # With receipts, one worker in seven did not survive the loss of its Redis.
    assert options["ack_emulation"] is False


@pytest.mark.parametrize("url", ["amqp://127.0.0.1", "pyamqp://127.0.0.1", "amqps://127.0.0.1"])
def test_over_rabbitmq_no_wait_is_for_ever_and_a_job_is_confirmed(
    backend: Backend, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    options = options_for(url, backend, monkeypatch)
    waits = ("connect_timeout", "read_timeout", "write_timeout")
    assert all(0 < options[name] <= 10 for name in waits)
    assert options["confirm_publish"] is True


def test_without_a_broker_the_worker_says_what_to_set(backend: Backend, tmp_path: Path) -> None:
    installation = Service(backend, tmp_path)
    process = installation.start("celery", "-A", "wsgi:celery", "worker")
    assert process.wait(60) != 0
    installation.engine.dispose()
