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

from app.testing.smtp import Sink, smtp_sink

from ..conftest import PASSWORD, Backend
from .backends import postgres_database
from .brokers import Broker
from .populate import add_accounts
from .processes import Service, within
from .servers import gunicorn
from .tcp_proxy import TcpProxy
from .traffic import Client, Ledger, migrate_with_accounts, sign_in_clients, stored_titles, traffic

RECEIVERS = 5
ACCOUNTS = 3000
# What each kind of request is answered, whatever becomes of the mails.
ANSWERS = {
    "account": 200,
    "revoked": 401,
    "write": 201,
    "health": 200,
    "broadcast": 201,
    "recovery": 200,
}
# Shorter than the fault, through which a request would wait that waited for its end at all.
FAULT_SECONDS = 3.5
ANSWERED_WITHIN = 2.5
BACK_WITHIN = 60.0
# What is looked for takes seconds, so that none of it passes between two requests.
PAUSE = 0.1


@dataclass
class AcceptedMessages:
    """What the service has said that it sends."""

    titles: list[str] = field(default_factory=list)
    recoveries: list[str] = field(default_factory=list)


@dataclass
class Installation:
    service: Service
    port: int
    log: Path
    sink: Sink
    mail: TcpProxy
    # The accounts that broadcasts go to: their ids, and their addresses.
    receivers: dict[int, str]
    accepted: AcceptedMessages = field(default_factory=AcceptedMessages)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1000))

    @property
    def waiting(self) -> int:
        return self.service.count("frontdesk_deliveries WHERE state = 'pending'")

    @contextmanager
    def mail_unavailable(self, how: str) -> Iterator[None]:
        """It accepts and says nothing; or not even that somebody is there is heard of it."""
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
        """Everybody's requests, broadcasts and recoveries; none may notice anything."""
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
        assert {kind: ledger.statuses(kind) for kind in ANSWERS} == {
            kind: {status} for kind, status in ANSWERS.items()
        }
        assert max(ledger.slowest(kind) for kind in ANSWERS) < ANSWERED_WITHIN
        assert set(ledger.acknowledged) <= stored_titles(self.port)
        assert "Unhandled" not in self.log.read_text()

    def assert_all_sent(self, most_doubles: int = 0) -> None:
        """Every mail comes within a minute, and no more of them twice than had an unknown end."""
        wanted = set(self.accepted.recoveries)
        within(BACK_WITHIN, lambda: self.waiting == 0 and wanted <= set(self.sink.receivers))
        came = Counter((mail.message["Subject"], mail.to) for mail in self.sink.received)
        addresses = self.receivers.values()
        expected = {(title, address) for title in self.accepted.titles for address in addresses}
        broadcasts = {key for key in came if key[0].startswith("Broadcast ")}
        assert broadcasts == expected
        assert sum(came.values()) - len(came) <= most_doubles
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
