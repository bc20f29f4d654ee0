"""Faults of what delivery stands on, with traffic running through them.

None of the requests may notice. Every broadcast and every recovery that the service has taken on
arrives, and within a minute of the end of the fault.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from app.testing.smtp import smtp_sink

from ..conftest import Backend
from ..rigs.backends import AMQP, lasting_port, postgres_database, rabbitmq_queue
from ..rigs.lines import Line
from ..rigs.offices import FAULT_SECONDS, Broker, Office, receivers_of
from ..rigs.populate import add_accounts
from ..rigs.processes import Service
from ..rigs.servers import gunicorn
from ..rigs.stores import Store
from ..rigs.traffic import furnish

RECEIVERS = 5
ACCOUNTS = 3000
KILLS = 3
WORKER_PROCESSES = 2
# Of two web processes, each with one connection for broadcasts and one for recoveries.
MAIL_CONNECTIONS = 4


@contextmanager
def open_office(folder: Path, broker: Broker | None = None) -> Iterator[Office]:
    with ExitStack() as stack:
        url = stack.enter_context(postgres_database(f"frontdesk_{folder.name}_{os.getpid()}"))
        furnish(url)
        sink = stack.enter_context(smtp_sink())
        mail = Line("127.0.0.1", sink.port)
        stack.callback(mail.cut)
        settings = {
            "MAIL_SERVER": "127.0.0.1",
            "MAIL_PORT": str(mail.port),
            "AUTH__RATE_LIMITS_ENABLED": "false",
            "WEB_CONCURRENCY": "2",
        }
        if broker is not None:
            settings |= broker.settings
        installation = Service(Backend("postgresql", url), folder, **settings)
        stack.callback(installation.engine.dispose)
        with installation.engine.connect() as connection:
            add_accounts(connection, ACCOUNTS)
        log = folder / "log"
        port = stack.enter_context(gunicorn(installation.environment, log))
        receivers = receivers_of(installation, RECEIVERS)
        yield Office(installation, port, log, sink, mail, receivers)


@contextmanager
def redis_broker(folder: Path) -> Iterator[Broker]:
    store = Store(folder, lasting_port())
    store.start()
    line = Line("127.0.0.1", store.port)
    url = f"redis://127.0.0.1:{line.port}/0"
    yield Broker(line, {"CORE__CELERY_BROKER_URL": url}, store)
    line.cut()
    store.stop()


@contextmanager
def rabbitmq_broker(_folder: Path) -> Iterator[Broker]:
    with rabbitmq_queue() as queue:
        server = urlsplit(AMQP)
        line = Line(server.hostname or "127.0.0.1", server.port or 5672)
        url = server._replace(netloc=f"{server.username}:{server.password}@127.0.0.1:{line.port}")
        yield Broker(line, {"CORE__CELERY_BROKER_URL": url.geturl(), "NOTIFICATIONS__QUEUE": queue})
        line.cut()


@pytest.fixture(scope="module", params=[redis_broker, rabbitmq_broker], ids=["redis", "rabbitmq"])
def broker(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Broker]:
    with request.param(tmp_path_factory.mktemp("broker")) as broker:
        yield broker


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    """Without a broker: the web processes send everything themselves."""
    with open_office(tmp_path_factory.mktemp("office")) as office:
        yield office


@pytest.fixture(scope="module")
def large_office(tmp_path_factory: pytest.TempPathFactory, broker: Broker) -> Iterator[Office]:
    """With a broker: a Celery worker sends what is broadcast."""
    with open_office(tmp_path_factory.mktemp("large_office"), broker) as office:
        yield office


@pytest.fixture(scope="module")
def worker(large_office: Office) -> Iterator[None]:
    with large_office.installation.worker(WORKER_PROCESSES):
        yield


def test_the_mail_server_falls_silent_and_is_then_black_holed(office: Office) -> None:
    with office.traffic():
        office.sink.wait_for(20, seconds=30)
        for how in ("silent", "black-holed"):
            with office.mail_away(how):
                time.sleep(FAULT_SECONDS)
                assert office.waiting > 0
        time.sleep(0.5)
    office.keeps_its_promises(most_doubles=MAIL_CONNECTIONS)


def test_the_delivery_worker_is_killed_over_and_over(large_office: Office) -> None:
    large_office.sink.before_taking = lambda: time.sleep(0.01)
    with large_office.traffic():
        for _ in range(KILLS):
            begin = len(large_office.sink.received)
            with large_office.installation.worker(WORKER_PROCESSES):
                large_office.sink.wait_for(begin + 40, seconds=30)
            assert large_office.waiting > 0
            large_office.installation.end_leases()
    large_office.sink.before_taking = lambda: None
    with large_office.installation.worker(WORKER_PROCESSES):
        # Each process that was killed had one in its hands.
        large_office.keeps_its_promises(most_doubles=KILLS * WORKER_PROCESSES)


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize("how", ["down", "vanished", "silent", "black-holed"])
def test_the_broker_is_out_of_reach(large_office: Office, broker: Broker, how: str) -> None:
    # So slow that the worker always has jobs that it has taken and not begun.
    large_office.sink.before_taking = lambda: time.sleep(0.03)
    with large_office.traffic():
        large_office.sink.wait_for(20, seconds=30)
        with broker.away(how):
            time.sleep(FAULT_SECONDS)
            assert large_office.waiting > 0
        time.sleep(0.5)
    large_office.sink.before_taking = lambda: None
    large_office.keeps_its_promises()
