"""Connections to Celery's brokers that are lost silently."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import pytest

from ..conftest import Backend, only_on
from ..rigs.processes import Service
from ..rigs.smtp import Sink
from ..rigs.tcp_proxy import TcpProxy
from .conftest import PublishJobs

pytestmark = only_on("postgresql")


@pytest.mark.parametrize(("broker", "seconds"), [("redis", 25), ("rabbitmq", 60)])
def test_silently_lost_connections_are_replaced(
    request: pytest.FixtureRequest,
    backend: Backend,
    sink: Sink,
    tmp_path: Path,
    publish_jobs: PublishJobs,
    broker: str,
    seconds: float,
) -> None:
    settings = request.getfixturevalue(broker)
    url = urlsplit(settings["CORE__CELERY_BROKER_URL"])
    line = TcpProxy(url.hostname or "127.0.0.1", url.port or 5672)
    settings["CORE__CELERY_BROKER_URL"] = url.geturl().replace(f":{url.port}", f":{line.port}")
    installation = Service(
        backend, tmp_path, MAIL_SERVER="127.0.0.1", MAIL_PORT=str(sink.port), **settings
    )
    installation.add_accounts(5)
    with installation.worker():
        publish_jobs(installation)
        sink.wait_for(5, seconds=90)
        line.forget()
        assert publish_jobs(installation) < 2
        sink.wait_for(10, seconds=seconds)
    line.cut()
    installation.engine.dispose()
