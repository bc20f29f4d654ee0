"""Urgent messages and messages to few receivers do not wait for broadcasts."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import sqlalchemy as sa

from app.delivery.worker.worker import BATCH_SIZE

from ..conftest import PASSWORD, Backend
from ..rigs.backends import postgres_database
from ..rigs.populate import add_accounts
from ..rigs.processes import Service, within
from ..rigs.servers import gunicorn
from ..rigs.smtp import Sink, smtp_sink
from ..rigs.traffic import Client, migrate_with_accounts

MANY = 100_000
# The mail server's time for each email.
PACE = 0.01
ID_OF = sa.text("SELECT id FROM accounts WHERE email = :email")


@dataclass
class Office:
    """The service while its worker sends a broadcast to 100,000 accounts."""

    installation: Service
    boss: Client
    sink: Sink

    def mails_before(self, receiver: str, asking: Callable[[], tuple[int, Any]]) -> int:
        """Return the number of emails between the response and this email."""
        begin = len(self.sink.received)
        status, response = asking()
        assert status < 300, response
        answered = len(self.sink.received)
        within(30, lambda: receiver in self.sink.receivers[begin:])
        return begin + self.sink.receivers[begin:].index(receiver) - answered

    @property
    def waiting(self) -> int:
        return self.installation.count("frontdesk_deliveries WHERE state = 'pending'")


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    folder = tmp_path_factory.mktemp("lanes")
    with postgres_database(f"frontdesk_lanes_{os.getpid()}") as url, smtp_sink() as sink:
        migrate_with_accounts(url)
        mail = {"MAIL_SERVER": "127.0.0.1", "MAIL_PORT": str(sink.port)}
        installation = Service(Backend("postgresql", url), folder, **mail)
        with installation.engine.connect() as connection:
            add_accounts(connection, MANY)
        sink.before_taking = lambda: time.sleep(PACE)
        with gunicorn(installation.environment, folder / "log") as port:
            boss = Client(port).sign_in("boss@example.com", PASSWORD)
            assert send(boss, "To all")[0] == 201
            sink.wait_for(20, seconds=60)
            within(60, lambda: installation.count("frontdesk_expansions") == 0)
            yield Office(installation, boss, sink)
        installation.engine.dispose()


def send(boss: Client, title: str, receivers: list[int] | None = None) -> tuple[int, Any]:
    data = {"title": title, "message": "x", "channels": ["inapp", "email"]}
    body = {"data": data} | ({"account_receiver_ids": receivers} if receivers else {})
    return boss.ask("POST", "/admin/notifications/", body)


# The last receivers of the broadcast.
@pytest.mark.parametrize("number", [MANY, MANY - 1, MANY - 2])
def test_recovery_email_is_sent_within_a_second(office: Office, number: int) -> None:
    forgot = f"account{number}@example.com"
    ask = {"email": forgot}
    before = office.mails_before(forgot, lambda: office.boss.ask("POST", "/password-recovery", ask))
    # A second at the mail server's pace, independent of the machine's load.
    assert before < 1 / PACE
    assert office.waiting > MANY * 0.9


def test_single_message_waits_only_for_the_current_batch(office: Office) -> None:
    receiver = f"account{MANY - 3}@example.com"
    with office.installation.engine.connect() as connection:
        number = connection.execute(ID_OF, {"email": receiver}).scalar_one()
    before = office.mails_before(receiver, lambda: send(office.boss, "To one", [number]))
    assert before <= BATCH_SIZE
    assert office.waiting > MANY * 0.9
