"""Clients that send requests continuously during a fault, and record each response."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from app import create_app
from app.accounts.service import Accounts
from app.core.context import service
from config import Settings

from ..conftest import PASSWORD, SECRET, close_connections, migrate

OWNER = "ledger"
# Longer than a restart takes on a busy machine: a request that waits for it is not lost.
TIMEOUT = 60
# No response: the connection was refused or broke.
NO_RESPONSE = 0
# A 503 without the header Retry-After.
NO_RETRY_AFTER = -503


@dataclass
class Entry:
    kind: str
    status: int
    seconds: float
    at: float


def send(
    connection: http.client.HTTPConnection,
    method: str,
    path: str,
    json_body: Any = None,
    form: dict[str, str] | None = None,
    token: str | None = None,
    headers: dict[str, str] | None = None,
) -> tuple[int, Any]:
    """Send a request and close the connection; return status and body, or `NO_RESPONSE`."""
    headers = dict(headers or {})
    body: bytes | None = None
    if token:
        headers["Authorization"] = f"Bearer {token}"
    if json_body is not None:
        body = json.dumps(json_body).encode()
        headers["Content-Type"] = "application/json"
    elif form is not None:
        body = urlencode(form).encode()
        headers["Content-Type"] = "application/x-www-form-urlencoded"
    try:
        connection.request(method, f"/api/v1{path}", body, headers)
        response = connection.getresponse()
        content = response.read()
        if response.status == 503 and response.headers["Retry-After"] is None:
            return NO_RETRY_AFTER, None
        return response.status, json.loads(content or b"null")
    except (OSError, http.client.HTTPException):
        return NO_RESPONSE, None
    finally:
        connection.close()


@dataclass
class Client:
    port: int
    token: str | None = None

    def ask(
        self, method: str, path: str, json_body: Any = None, form: dict[str, str] | None = None
    ) -> tuple[int, Any]:
        """Send a request over a new connection; return status and body, or `NO_RESPONSE`."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        headers = {"X-Owner": OWNER}
        return send(connection, method, path, json_body, form, self.token, headers)

    def sign_in(self, email: str, password: str) -> Client:
        status, body = self.ask("POST", "/login", form={"username": email, "password": password})
        assert status == 200, body
        return Client(self.port, body["access_token"])


@dataclass
class Ledger:
    entries: list[Entry] = field(default_factory=list)
    # Titles of the tasks that the service accepted with 201.
    acknowledged: list[str] = field(default_factory=list)

    def statuses(self, kind: str | None = None, since: float = 0) -> set[int]:
        return {entry.status for entry in self._of(kind) if entry.at >= since}

    def slowest(self, kind: str, since: float = 0) -> float:
        return max((entry.seconds for entry in self._of(kind) if entry.at >= since), default=0.0)

    def first_success(self, kind: str, since: float) -> float:
        """Return the seconds from `since` to the first success of a request sent after it."""
        return min(
            entry.at + entry.seconds - since
            for entry in self._of(kind)
            if entry.at >= since and 200 <= entry.status < 300
        )

    def _of(self, kind: str | None) -> list[Entry]:
        return [entry for entry in list(self.entries) if kind in (None, entry.kind)]


def migrate_with_accounts(url: str) -> None:
    """Migrate a database and add the accounts that send traffic, and an admin."""
    migrate(url)
    settings = Settings(
        SECRET_KEY=SECRET,
        CORE={"DATABASE_URL": url, "LOG_LEVEL": "ERROR"},
        AUTH={"BCRYPT_ROUNDS": 4},
    )
    app = create_app(settings)
    with app.app_context():
        for name, role in (("active", "user"), ("revoked", "user"), ("boss", "admin")):
            service(Accounts).create(f"{name}@example.com", PASSWORD, role=role)
    close_connections(app)


def sign_in_clients(port: int) -> tuple[Client, Client]:
    """Return a signed-in client, and a signed-out one that still sends its revoked token."""
    active = Client(port).sign_in("active@example.com", PASSWORD)
    revoked = Client(port).sign_in("revoked@example.com", PASSWORD)
    assert revoked.ask("DELETE", "/logout")[0] == 200
    return active, revoked


@contextmanager
def traffic(
    port: int, active: Client, revoked: Client, pause: float = 0.02, **more: Callable[[], int]
) -> Iterator[Ledger]:
    """Run one client for each kind of request: account reads with a valid and with a revoked token,
    writes, and health checks, with a pause after each response.

    Each function of `more` sends one request and returns its status, five times a second.
    """
    ledger = Ledger()
    over = threading.Event()
    number = iter(range(10**9))

    def write() -> int:
        title = f"{time.monotonic_ns()}-{next(number)}"
        status, _ = Client(port).ask("POST", "/tasks/", {"title": title})
        if status == 201:
            ledger.acknowledged.append(title)
        return status

    kinds: dict[str, Callable[[], int]] = {
        "account": lambda: active.ask("GET", "/account")[0],
        "revoked": lambda: revoked.ask("GET", "/account")[0],
        "write": write,
        "health": lambda: Client(port).ask("GET", "/health")[0],
        **more,
    }

    def run(kind: str) -> None:
        interval = 0.2 if kind in more else pause
        while not over.is_set():
            at = time.monotonic()
            status = kinds[kind]()
            ledger.entries.append(Entry(kind, status, time.monotonic() - at, at))
            over.wait(interval)

    threads = [threading.Thread(target=run, args=(kind,)) for kind in kinds]
    for thread in threads:
        thread.start()
    try:
        yield ledger
    finally:
        over.set()
        for thread in threads:
            thread.join()


def stored_titles(port: int) -> set[str]:
    """Return the titles of all stored tasks."""
    titles: set[str] = set()
    offset = 0
    while True:
        status, page = Client(port).ask("GET", f"/tasks/?limit=500&offset={offset}")
        assert status == 200, page
        titles |= {task["title"] for task in page}
        if len(page) < 500:
            return titles
        offset += 500
