"""Outages of the mail server and of delivery workers while clients use the service.

No request may fail. Every accepted broadcast and password reset email arrives within a minute of
the end of the fault.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from ..rigs.installations import FAULT_SECONDS, Installation, start_installation

KILLS = 3
WORKER_PROCESSES = 2
# Two web processes, each with one connection for broadcasts and one for password resets.
MAIL_CONNECTIONS = 4


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """The service without a broker: the web processes send all messages."""
    with start_installation(tmp_path_factory.mktemp("installation")) as installation:
        yield installation


def test_messages_arrive_after_mail_server_outages(installation: Installation) -> None:
    with installation.traffic():
        installation.sink.wait_for(20, seconds=30)
        for how in ("silent", "black-holed"):
            with installation.mail_unavailable(how):
                time.sleep(FAULT_SECONDS)
                assert installation.waiting > 0
        time.sleep(0.5)
    installation.assert_all_sent(most_duplicates=MAIL_CONNECTIONS)


def test_messages_arrive_after_delivery_workers_are_killed(
    celery_installation: Installation,
) -> None:
    celery_installation.sink.before_taking = lambda: time.sleep(0.01)
    with celery_installation.traffic():
        for _ in range(KILLS):
            begin = len(celery_installation.sink.received)
            with celery_installation.service.worker(WORKER_PROCESSES):
                celery_installation.sink.wait_for(begin + 40, seconds=30)
            assert celery_installation.waiting > 0
            celery_installation.service.end_leases()
    celery_installation.sink.before_taking = lambda: None
    with celery_installation.service.worker(WORKER_PROCESSES):
        # Each killed process was sending one message.
        celery_installation.assert_all_sent(most_duplicates=KILLS * WORKER_PROCESSES)
