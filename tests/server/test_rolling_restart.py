"""The proxies of deploy/proxies/ in front of two servers, one of which restarts under load."""

from __future__ import annotations

import json
import signal
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ..conftest import SECRET
from ..rigs.backends import reserved_port
from ..rigs.proxies import Proxy, proxy
from ..rigs.servers import Server, gunicorn_server
from ..rigs.traffic import migrate_with_accounts

KINDS = ["nginx", "haproxy", "caddy"]
CLIENTS = 4
# A stopping server can have one request of each client. Caddy 2.6 does not retry requests with a
# body, and takes seconds to retry a server that was down.
MAX_FAILED_WRITES = {"nginx": CLIENTS, "haproxy": CLIENTS, "caddy": 5 * CLIENTS}
JSON = {"Content-Type": "application/json", "X-Owner": "rolling"}


@dataclass
class Load:
    reads: Counter[int] = field(default_factory=Counter)
    writes: Counter[int] = field(default_factory=Counter)
    titles: list[str] = field(default_factory=list)


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, str]:
    url = f"sqlite:///{tmp_path / 'frontdesk.db'}"
    migrate_with_accounts(url)
    return {
        "SECRET_KEY": SECRET,
        "CORE__DATABASE_URL": url,
        "CORE__KEYSTORE": "database",
        "CORE__TRUSTED_PROXIES": "1",
        "TASKS__OWNER_LIMIT": "100000",
        "TASKS__CREATE_LIMIT": "100000 per minute",
        "WEB_THREADS": "8",
    }


@contextmanager
def load(front: Proxy) -> Iterator[Load]:
    """Read and write with each client in turn, without pauses."""
    counts = Load()
    over = threading.Event()

    def run_client(client: int) -> None:
        number = 0
        while not over.is_set():
            number += 1
            counts.reads[front.ask("GET", "/api/v1/tasks/?limit=1", headers=JSON).status] += 1
            title = f"{client}-{number}"
            body = json.dumps({"title": title}).encode()
            status = front.ask("POST", "/api/v1/tasks/", body, JSON).status
            counts.writes[status] += 1
            if status == 201:
                counts.titles.append(title)
            time.sleep(0.01)

    threads = [threading.Thread(target=run_client, args=(client,)) for client in range(CLIENTS)]
    for thread in threads:
        thread.start()
    try:
        yield counts
    finally:
        over.set()
        for thread in threads:
            thread.join()


def stop(server: Server) -> None:
    server.send(signal.SIGTERM)
    server.process.wait(timeout=40)


@pytest.mark.parametrize("kind", KINDS)
def test_rolling_restart_fails_no_read_and_repeats_no_write(
    kind: str, settings: dict[str, str], tmp_path: Path
) -> None:
    ports = reserved_port(), reserved_port()
    with ExitStack() as stack:
        servers = [
            stack.enter_context(gunicorn_server(settings, tmp_path / f"log{port}", port=port))
            for port in ports
        ]
        front = stack.enter_context(proxy(kind, ports[0], tmp_path / kind, ports[1]))
        with load(front) as counts:
            time.sleep(1)
            stop(servers[1])
            time.sleep(2)
            again = gunicorn_server(settings, tmp_path / "again", port=ports[1])
            stack.enter_context(again)
            time.sleep(4)
    assert set(counts.reads) == {200}
    assert counts.reads[200] > 20
    # The proxy must not retry a POST that the stopped server had received.
    assert counts.writes.total() - counts.writes[201] <= MAX_FAILED_WRITES[kind]
    with closing(sqlite3.connect(tmp_path / "frontdesk.db")) as database:
        stored = [title for (title,) in database.execute("SELECT title FROM frontdesk_tasks")]
    assert len(stored) == len(set(stored))
    assert set(stored) >= set(counts.titles)
