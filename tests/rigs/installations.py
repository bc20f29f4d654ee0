"""The service with separate servers for delivery, and a ledger of accepted messages."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import sqlalchemy as sa

from ..conftest import PASSWORD, Backend
from .backends import postgres_database
from .brokers import Broker
from .populate import add_accounts
from .processes import Service, within
from .servers import gunicorn
from .smtp import Sink, smtp_sink
from .tcp_proxy import TcpProxy
from .traffic import Client, Ledger, migrate_with_accounts, sign_in_clients, stored_titles, traffic

RECEIVERS = 5
ACCOUNTS = 3000
# The status of each kind of request, whether or not emails are delivered.
STATUSES = {
    "account": 200,
    "revoked": 401,
    "write": 201,
    "health": 200,
    "broadcast": 201,
    "recovery": 200,
}
# Shorter than the fault: no request may wait for the end of the fault.
FAULT_SECONDS = 5
RESPONSE_SECONDS = 4
RECOVERY_SECONDS = 60.0
# Seconds between two requests. The faults last longer, so that requests are sent during each fault.
PAUSE = 0.1


@dataclass
class AcceptedMessages:
    """Messages that the service accepted for delivery."""

    titles: list[str] = field(default_factory=list)
    recoveries: list[str] = field(default_factory=list)


@dataclass
class Installation:
    service: Service
    port: int
    log: Path
    sink: Sink
    mail: TcpProxy
    # Recipients of the broadcasts: email addresses by account id.
    receivers: dict[int, str]
    accepted: AcceptedMessages = field(default_factory=AcceptedMessages)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1000))

    @property
    def waiting(self) -> int:
        return self.service.count("frontdesk_deliveries WHERE state = 'pending'")

    @contextmanager
    def mail_unavailable(self, how: str) -> Iterator[None]:
        """Make the mail server silent, or unreachable."""
        if how == "silent":
            self.mail.silent = True
        else:
            self.mail.swallow()
        try:
            yield
        finally:
            self.mail.restore()

    def send(self, boss: Client, title: str, receivers: list[int]) -> int:
        data = {"title": title, "message": "x", "channels": ["inapp", "email"]}
        body = {"data": data, "account_receiver_ids": receivers}
        return boss.ask("POST", "/admin/notifications/", body)[0]

    @contextmanager
    def traffic(self) -> Iterator[Ledger]:
        """Send requests, broadcasts and password recoveries, and check that none fails."""
        self.sink.received.clear()
        self.accepted = AcceptedMessages()
        boss = Client(self.port).sign_in("boss@example.com", PASSWORD)
        active, revoked = sign_in_clients(self.port)

        def broadcast() -> int:
            title = f"Broadcast {time.monotonic_ns()}"
            status = self.send(boss, title, list(self.receivers))
            if status == 201:
                self.accepted.titles.append(title)
            return status

        def recover() -> int:
            email = f"account{next(self._numbers)}@example.com"
            status, _ = Client(self.port).ask("POST", "/password-recovery", {"email": email})
            if status == 200:
                self.accepted.recoveries.append(email)
            return status

        more = {"broadcast": broadcast, "recovery": recover}
        with traffic(self.port, active, revoked, PAUSE, **more) as ledger:
            yield ledger
        assert {kind: ledger.statuses(kind) for kind in STATUSES} == {
            kind: {status} for kind, status in STATUSES.items()
        }
        assert max(ledger.slowest(kind) for kind in STATUSES) < RESPONSE_SECONDS
        assert set(ledger.acknowledged) <= stored_titles(self.port)
        assert "Unhandled" not in self.log.read_text()

    def assert_all_sent(self, most_duplicates: int = 0) -> None:
        """Wait until each email has arrived, with at most `most_duplicates` duplicates."""
        wanted = set(self.accepted.recoveries)
        within(RECOVERY_SECONDS, lambda: self.waiting == 0 and wanted <= set(self.sink.receivers))
        arrived = Counter((mail.message["Subject"], mail.to) for mail in self.sink.received)
        addresses = self.receivers.values()
        expected = {(title, address) for title in self.accepted.titles for address in addresses}
        broadcasts = {key for key in arrived if key[0].startswith("Broadcast ")}
        assert broadcasts == expected
        assert sum(arrived.values()) - len(arrived) <= most_duplicates
        rows = "(SELECT DISTINCT notification_id, receiver_id FROM frontdesk_inbox) AS pairs"
        assert self.service.count(rows) == self.service.count("frontdesk_inbox")
        assert self.service.count("frontdesk_deliveries WHERE state <> 'sent'") == 0


@contextmanager
def start_installation(folder: Path, broker: Broker | None = None) -> Iterator[Installation]:
    with ExitStack() as stack:
        url = stack.enter_context(postgres_database(f"frontdesk_{folder.name}_{os.getpid()}"))
        migrate_with_accounts(url)
        sink = stack.enter_context(smtp_sink())
        mail = TcpProxy("127.0.0.1", sink.port)
        stack.callback(mail.cut)
        settings = {
            "MAIL_SERVER": "127.0.0.1",
            "MAIL_PORT": str(mail.port),
            "AUTH__RATE_LIMITS_ENABLED": "false",
            # The traffic of the tests comes from one IP address.
            "TASKS__CREATE_LIMIT": "1000000 per minute",
            "WEB_CONCURRENCY": "2",
        }
        if broker is not None:
            settings |= broker.settings
        service = Service(Backend("postgresql", url), folder, **settings)
        stack.callback(service.engine.dispose)
        with service.engine.connect() as connection:
            add_accounts(connection, ACCOUNTS)
        log = folder / "log"
        port = stack.enter_context(gunicorn(service.environment, log))
        receivers = _receivers_of(service, RECEIVERS)
        yield Installation(service, port, log, sink, mail, receivers)


def _receivers_of(service: Service, most: int) -> dict[int, str]:
    statement = sa.text("SELECT id, email FROM accounts WHERE email LIKE 'account%' ORDER BY id")
    with service.engine.connect() as connection:
        return {row.id: row.email for row in connection.execute(statement).fetchmany(most)}
