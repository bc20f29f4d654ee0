"""Faults of the mail server and of the workers that send, with traffic running through them.

None of the requests may notice. Every broadcast and every recovery that the service has taken on
arrives, and within a minute of the end of the fault.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from ..rigs.offices import FAULT_SECONDS, Office, open_office

KILLS = 3
WORKER_PROCESSES = 2
# Of two web processes, each with one connection for broadcasts and one for recoveries.
MAIL_CONNECTIONS = 4


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    """Without a broker: the web processes send everything themselves."""
    with open_office(tmp_path_factory.mktemp("office")) as office:
        yield office


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
