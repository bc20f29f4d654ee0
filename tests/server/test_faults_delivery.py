"""Outages of the mail server and of delivery workers while clients use the service.

No request may fail. Every accepted broadcast and password reset email arrives within a minute of
the end of the fault.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from ..rigs.offices import FAULT_SECONDS, Office, open_office

KILLS = 3
WORKER_PROCESSES = 2
# Two web processes, each with one connection for broadcasts and one for password resets.
MAIL_CONNECTIONS = 4


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    """The service without a broker: the web processes send all messages."""
    with open_office(tmp_path_factory.mktemp("office")) as office:
        yield office


def test_messages_arrive_after_mail_server_outages(office: Office) -> None:
    with office.traffic():
        office.sink.wait_for(20, seconds=30)
        for how in ("silent", "black-holed"):
            with office.mail_away(how):
                time.sleep(FAULT_SECONDS)
                assert office.waiting > 0
        time.sleep(0.5)
    office.keeps_its_promises(most_doubles=MAIL_CONNECTIONS)


def test_messages_arrive_after_delivery_workers_are_killed(large_office: Office) -> None:
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
        # Each killed process was sending one message.
        large_office.keeps_its_promises(most_doubles=KILLS * WORKER_PROCESSES)
