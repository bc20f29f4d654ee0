"""An unreachable broker while clients use the service, as in test_faults_delivery.py."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from ..rigs.brokers import Broker
from ..rigs.offices import FAULT_SECONDS, Office

WORKER_PROCESSES = 2


@pytest.fixture(scope="module")
def worker(large_office: Office) -> Iterator[None]:
    with large_office.installation.worker(WORKER_PROCESSES):
        yield


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize("how", ["down", "vanished", "silent", "black-holed"])
def test_messages_arrive_after_a_broker_outage(
    large_office: Office, broker: Broker, how: str
) -> None:
    # So slow that the worker always holds jobs that it has not started.
    large_office.sink.before_taking = lambda: time.sleep(0.03)
    with large_office.traffic():
        large_office.sink.wait_for(20, seconds=30)
        with broker.away(how):
            time.sleep(FAULT_SECONDS)
            assert large_office.waiting > 0
        time.sleep(0.5)
    large_office.sink.before_taking = lambda: None
    large_office.keeps_its_promises()
