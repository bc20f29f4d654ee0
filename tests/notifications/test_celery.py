"""Celery as the engine, with both brokers."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app import create_app
from app.core.settings import load
from app.delivery.celery_engine import CeleryEngine
from app.delivery.engine import Engine
from app.extension import Frontdesk
from app.testing.smtp import Sink, smtp_sink
from config import Settings

from ..backends import free_port, missing, redis_server
from ..conftest import Backend, only_on
from .processes import Service, within

AMQP = os.environ.get("FRONTDESK_TEST_AMQP", "amqp://guest:guest@127.0.0.1:5672//")

pytestmark = [only_on("postgresql"), pytest.mark.filterwarnings("ignore::ResourceWarning")]


@pytest.fixture
def sink() -> Iterator[Sink]:
    with smtp_sink() as sink:
        yield sink


@pytest.fixture
def rabbitmq() -> Iterator[dict[str, str]]:
    import kombu

    queue = f"frontdesk-test-{secrets.token_hex(4)}"
    broker: Any = kombu
    with broker.Connection(AMQP, connect_timeout=3) as connection:
        try:
            connection.connect()
        except OSError:
            missing("RabbitMQ does not answer")
        yield {"CORE__CELERY_BROKER_URL": AMQP, "NOTIFICATIONS__QUEUE": queue}
        channel = connection.channel()
        channel.queue_delete(queue)
        channel.exchange_delete(queue)


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[dict[str, str]]:
    with redis_server(tmp_path) as url:
        yield {"CORE__CELERY_BROKER_URL": url}


def notify(installation: Service, monkeypatch: pytest.MonkeyPatch) -> float:
    """Send as a web process does; says how long it took."""
    with monkeypatch.context() as patch:
        for name, value in installation.environment.items():
            patch.setenv(name, value)
        app = create_app(load(Settings))
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


def test_without_a_broker_the_worker_says_what_to_set(backend: Backend, tmp_path: Path) -> None:
    installation = Service(backend, tmp_path)
    process = installation.start("celery", "-A", "wsgi:celery", "worker")
    assert process.wait(60) != 0
    installation.engine.dispose()
