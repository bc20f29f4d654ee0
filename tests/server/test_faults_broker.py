"""An unreachable broker while clients use the service, as in test_faults_delivery.py."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from ..rigs.brokers import Broker
from ..rigs.installations import FAULT_SECONDS, Installation

WORKER_PROCESSES = 2


@pytest.fixture(scope="module")
def worker(celery_installation: Installation) -> Iterator[None]:
    with celery_installation.service.worker(WORKER_PROCESSES):
        yield


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize("how", ["down", "vanished", "silent", "black-holed"])
def test_messages_arrive_after_a_broker_outage(
    celery_installation: Installation, broker: Broker, how: str
) -> None:
    # So slow that the worker always holds jobs that it has not started.
    celery_installation.sink.before_taking = lambda: time.sleep(0.03)
    with celery_installation.traffic():
        celery_installation.sink.wait_for(20, seconds=30)
        with broker.unavailable(how):
            time.sleep(FAULT_SECONDS)
            assert celery_installation.waiting > 0
        time.sleep(0.5)
    celery_installation.sink.before_taking = lambda: None
    celery_installation.assert_all_sent()
