from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from app import create_app
from app.core.config.environment import load
from app.delivery.worker.celery import CeleryEngine, celery_of
from app.delivery.worker.engine import Engine
from app.frontdesk import Frontdesk
from app.notifications.service import SendResult
from config import Settings

from ..conftest import MakePerson, Person, close_connections
from ..rigs.backends import AMQP, rabbitmq_queue, redis_server
from ..rigs.processes import Service
from ..rigs.smtp import Sink, smtp_sink

Notify = Callable[..., SendResult]


@pytest.fixture
def bob(person: MakePerson) -> Person:
    return person("bob")


@pytest.fixture
def notify(app: Flask) -> Notify:
    """Send as an application does: `notify("Title", channels=["inapp", "email"])`."""

    def notify(title: str = "Hello", message: str = "A message.", **more: Any) -> SendResult:
        with app.app_context():
            return Frontdesk().notify(title, message, **more)

    return notify


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


MakeWebApp = Callable[[Mapping[str, str]], Flask]
PublishJobs = Callable[[Service], float]


@pytest.fixture
def make_web_app(monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeWebApp]:
    """A web process, configured by its environment, that publishes its jobs."""
    created: list[Flask] = []

    def make(environment: Mapping[str, str]) -> Flask:
        with monkeypatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            created.append(create_app(load(Settings)))
        return created[-1]

    yield make
    for app in created:
        app.extensions["frontdesk"].services[Engine].stop(10)
        celery_of(app).close()
        close_connections(app)


@pytest.fixture
def publish_jobs(make_web_app: MakeWebApp) -> PublishJobs:
    """Send as a web process does, and return the duration."""

    def send(installation: Service) -> float:
        app = make_web_app(installation.environment)
        with app.app_context():
            begin = time.monotonic()
            Frontdesk().notify("Hello", "x", channels=["inapp", "email"])
            took = time.monotonic() - begin
            assert isinstance(app.extensions["frontdesk"].services[Engine], CeleryEngine)
        return took

    return send
