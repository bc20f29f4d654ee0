"""Celery as the engine, with both brokers."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from app.delivery.worker.celery import celery_of

from ..conftest import Backend, only_on
from ..rigs.backends import free_port, redis_server
from ..rigs.processes import Service, within
from ..rigs.smtp import Sink
from .conftest import MakeWebApp, PublishJobs

pytestmark = only_on("postgresql")


@pytest.mark.parametrize("broker", ["redis", "rabbitmq"])
def test_worker_delivers(
    request: pytest.FixtureRequest,
    backend: Backend,
    sink: Sink,
    tmp_path: Path,
    publish_jobs: PublishJobs,
    broker: str,
) -> None:
    settings = request.getfixturevalue(broker)
    installation = Service(
        backend, tmp_path, MAIL_SERVER="127.0.0.1", MAIL_PORT=str(sink.port), **settings
    )
    installation.add_accounts(250)
    with installation.worker():
        publish_jobs(installation)
        sink.wait_for(250, seconds=90)
        within(15, lambda: installation.count("frontdesk_deliveries WHERE state = 'sent'") == 250)
    assert len(set(sink.receivers)) == len(sink.receivers) == 250
    installation.engine.dispose()


def test_worker_expands_a_large_broadcast_and_delivers_it(
    redis: dict[str, str], backend: Backend, sink: Sink, tmp_path: Path, publish_jobs: PublishJobs
) -> None:
    mail = {"MAIL_SERVER": "127.0.0.1", "MAIL_PORT": str(sink.port)}
    installation = Service(
        backend, tmp_path, NOTIFICATIONS__INLINE_RECEIVERS="100", **mail, **redis
    )
    installation.add_accounts(250)
    publish_jobs(installation)
    assert installation.count("frontdesk_expansions") == 1
    assert installation.count("frontdesk_inbox") == 0
    with installation.worker():
        sink.wait_for(250, seconds=90)
    assert len(set(sink.receivers)) == len(sink.receivers) == 250
    assert installation.count("frontdesk_inbox") == 250
    assert installation.count("frontdesk_expansions") == 0
    installation.engine.dispose()


def test_killed_worker_loses_no_delivery(
    rabbitmq: dict[str, str],
    backend: Backend,
    sink: Sink,
    tmp_path: Path,
    publish_jobs: PublishJobs,
) -> None:
    installation = Service(
        backend, tmp_path, MAIL_SERVER="127.0.0.1", MAIL_PORT=str(sink.port), **rabbitmq
    )
    installation.add_accounts(250)
    sink.before_taking = lambda: time.sleep(0.01)
    publish_jobs(installation)
    kills = (20, 130)
    for mails in kills:
        with installation.worker(processes=1):
            sink.wait_for(mails, seconds=60)
        assert len(sink.received) < 250
        installation.end_leases()
    with installation.worker(processes=1):
        within(60, lambda: installation.count("frontdesk_deliveries WHERE state = 'sent'") == 250)
    assert len(set(sink.receivers)) == 250
    # For each killed worker, the delivery that it was sending.
    assert len(sink.receivers) <= 250 + len(kills)
    assert (
        installation.count("frontdesk_inbox") == installation.count("frontdesk_deliveries") == 250
    )
    assert (
        installation.count("(SELECT DISTINCT receiver_id FROM frontdesk_inbox) AS receivers") == 250
    )
    installation.engine.dispose()


def test_unavailable_broker_does_not_block_requests(
    backend: Backend, sink: Sink, tmp_path: Path, publish_jobs: PublishJobs
) -> None:
    port = free_port()
    installation = Service(
        backend,
        tmp_path,
        MAIL_SERVER="127.0.0.1",
        MAIL_PORT=str(sink.port),
        CORE__CELERY_BROKER_URL=f"redis://127.0.0.1:{port}/0",
    )
    installation.add_accounts(5)
    assert publish_jobs(installation) < 2
    with redis_server(tmp_path, port), installation.worker():
        sink.wait_for(5, seconds=90)
    installation.engine.dispose()


def options_for(url: str, backend: Backend, make_web_app: MakeWebApp) -> dict[str, Any]:
    settings = {"CORE__DATABASE_URL": backend.database_url, "CORE__CELERY_BROKER_URL": url}
    app = make_web_app(settings)
    options: dict[str, Any] = celery_of(app).conf.broker_transport_options
    return options


@pytest.mark.parametrize(
    "url", ["redis://127.0.0.1", "rediss://127.0.0.1", "redis+sentinel://127.0.0.1/mymaster"]
)
def test_redis_options_have_timeouts_and_no_acknowledgements(
    backend: Backend, make_web_app: MakeWebApp, url: str
) -> None:
    options = options_for(url, backend, make_web_app)
    waits = ("socket_connect_timeout", "socket_timeout", "health_check_interval")
    assert all(0 < options[name] <= 10 for name in waits)
    # With acknowledgements, one worker in seven exited after the loss of Redis.
    assert options["ack_emulation"] is False


def test_sentinel_url_becomes_the_settings_of_celery(
    backend: Backend, make_web_app: MakeWebApp
) -> None:
    url = "rediss+sentinel://ada:a%2Fb@h:1,g/mymaster/3?sentinel_password=c&ssl_ca_certs=/ca"
    settings = {"CORE__DATABASE_URL": backend.database_url, "CORE__CELERY_BROKER_URL": url}
    conf = celery_of(make_web_app(settings)).conf
    assert conf.broker_url == "sentinel://ada:a%2Fb@h:1/3;sentinel://ada:a%2Fb@g:26379/3"
    assert conf.broker_use_ssl == {"ssl_ca_certs": "/ca", "ssl_cert_reqs": "required"}
    options = conf.broker_transport_options
    assert options["master_name"] == "mymaster"
    assert {"password": "c", "ssl": True, "ssl_ca_certs": "/ca"}.items() <= options[
        "sentinel_kwargs"
    ].items()


@pytest.mark.parametrize("url", ["amqp://127.0.0.1", "pyamqp://127.0.0.1", "amqps://127.0.0.1"])
def test_rabbitmq_options_have_timeouts_and_publish_confirmations(
    backend: Backend, make_web_app: MakeWebApp, url: str
) -> None:
    options = options_for(url, backend, make_web_app)
    waits = ("connect_timeout", "read_timeout", "write_timeout")
    assert all(0 < options[name] <= 10 for name in waits)
    assert options["confirm_publish"] is True


def test_two_workers_on_one_machine_have_different_names(
    redis: dict[str, str], backend: Backend, tmp_path: Path, make_web_app: MakeWebApp
) -> None:
    installation = Service(backend, tmp_path, **redis)
    control = celery_of(make_web_app(installation.environment)).control

    def names() -> set[str]:
        return {name for response in control.ping(timeout=1) for name in response}

    with installation.worker(processes=1), installation.worker(processes=1):
        within(60, lambda: len(names()) == 2)
    installation.engine.dispose()


def test_worker_without_a_broker_names_the_setting(backend: Backend, tmp_path: Path) -> None:
    installation = Service(backend, tmp_path)
    process = installation.start("celery", "-A", "wsgi:celery", "worker")
    assert process.wait(60) != 0
    installation.engine.dispose()


def test_celery_reads_the_url_of_a_unix_socket(backend: Backend, make_web_app: MakeWebApp) -> None:
    assert options_for("redis+socket:///run/redis.sock", backend, make_web_app) is not None
