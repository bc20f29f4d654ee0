"""Reload, stop and start of gunicorn while clients use the service."""

from __future__ import annotations

import signal
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ..conftest import PASSWORD, SECRET
from ..rigs.backends import postgres_database
from ..rigs.breaches import Breached, breached_passwords
from ..rigs.processes import within
from ..rigs.servers import ROOT, Server, gunicorn_server
from ..rigs.traffic import Client, migrate_with_accounts, sign_in_clients, stored_titles, traffic


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    url = f"sqlite:///{tmp_path_factory.mktemp('reload') / 'frontdesk.db'}"
    migrate_with_accounts(url)
    return url


@pytest.fixture
def breached() -> Iterator[Breached]:
    with breached_passwords() as state:
        yield state


@pytest.fixture
def server(url: str, breached: Breached, tmp_path: Path) -> Iterator[Server]:
    """A server with two workers that share a keystore, without a secret in the settings."""
    settings = {
        "CORE__DATABASE_URL": url,
        "CORE__KEYSTORE": "database",
        "AUTH__RATE_LIMITS_ENABLED": "false",
        "AUTH__BREACHED_PASSWORDS": "refuse",
        "AUTH__BREACHED_PASSWORDS_URL": breached.url,
        # The traffic of the tests comes from one IP address.
        "TASKS__CREATE_LIMIT": "1000000 per minute",
        "WEB_CONCURRENCY": "2",
    }
    with gunicorn_server(settings, tmp_path / "log") as server:
        yield server


def wait_for_other_workers(server: Server, than: set[int]) -> None:
    until = time.monotonic() + 30
    while set(server.workers()) & than or len(server.workers()) < 2:
        assert time.monotonic() < until, "the workers are still the same"
        time.sleep(0.05)


def test_reload_loses_no_request(server: Server) -> None:
    active, revoked = sign_in_clients(server.port)
    with traffic(server.port, active, revoked) as ledger:
        time.sleep(0.3)
        before = set(server.workers())
        server.send(signal.SIGHUP)
        wait_for_other_workers(server, before)
        time.sleep(0.3)
    assert ledger.statuses("account") == {200}
    assert ledger.statuses("revoked") == {401}
    assert ledger.statuses("write") == {201}
    assert ledger.statuses("health") == {200}
    assert set(ledger.acknowledged) <= stored_titles(server.port)


def test_reload_keeps_connections_of_slow_clients(server: Server) -> None:
    """Clients connect and send their request a moment later."""
    over = threading.Event()

    def ask_slowly(_: int) -> set[bytes]:
        responses = set()
        while not over.is_set():
            with socket.create_connection(("127.0.0.1", server.port), timeout=15) as connection:
                time.sleep(0.1)
                connection.sendall(
                    b"GET /api/v1/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
                )
                responses.add(connection.recv(12))
        return responses

    with ThreadPoolExecutor(8) as pool:
        responses = pool.map(ask_slowly, range(8))
        try:
            time.sleep(0.3)
            before = set(server.workers())
            server.send(signal.SIGHUP)
            wait_for_other_workers(server, before)
        finally:
            over.set()
        assert set().union(*responses) == {b"HTTP/1.1 200"}


def test_stop_completes_running_requests(server: Server, breached: Breached) -> None:
    """The server receives SIGTERM while it waits for the service that knows breached passwords."""
    breached.seconds = 0.5
    boss = Client(server.port).sign_in("boss@example.com", PASSWORD)

    def create_account(number: int) -> int:
        account = {"email": f"{server.port}-{number}@example.com", "password": "a quiet otter"}
        return boss.ask("POST", "/admin/accounts", account)[0]

    with ThreadPoolExecutor(3) as pool:
        responses = pool.map(create_account, range(3))
        within(30, lambda: len(breached.asked) == 3)
        server.send(signal.SIGTERM)
        assert set(responses) == {201}
    assert server.process.wait(timeout=30) == 0


SLOW_START = f"""
import runpy, time
globals().update(runpy.run_path({str(ROOT / "gunicorn.conf.py")!r}))
inherited = post_fork
def post_fork(server, worker):
    inherited(server, worker)
    time.sleep(2)
"""


def test_starting_worker_obeys_a_stop(url: str, tmp_path: Path) -> None:
    """A worker that ignores SIGTERM would accept requests and then be killed."""
    (tmp_path / "slow.py").write_text(SLOW_START)
    options = ["-c", str(tmp_path / "slow.py"), "--graceful-timeout", "25"]
    settings = {"CORE__DATABASE_URL": url, "SECRET_KEY": SECRET}
    with gunicorn_server(settings, tmp_path / "log", *options) as server:
        while not server.workers():
            time.sleep(0.05)
        time.sleep(0.5)
        server.send(signal.SIGTERM)
        assert server.process.wait(timeout=20) == 0


def test_workers_without_a_secret_share_a_random_one(server: Server) -> None:
    """Each request opens a connection, so both workers check the token."""
    active, _ = sign_in_clients(server.port)
    assert len(server.workers()) == 2
    assert {active.ask("GET", "/account")[0] for _ in range(40)} == {200}


def test_workers_share_no_database_connection(tmp_path: Path) -> None:
    """With a shared connection, a worker would read the results of another worker's query."""
    with postgres_database("frontdesk_fork") as url:
        migrate_with_accounts(url)
        settings = {"CORE__DATABASE_URL": url, "WEB_CONCURRENCY": "2", "SECRET_KEY": SECRET}
        with gunicorn_server(settings, tmp_path / "log") as server:
            paths = ["/tasks/", "/health/ready"]

            def ask(number: int) -> int:
                return Client(server.port).ask("GET", paths[number % 2])[0]

            with ThreadPoolExecutor(8) as pool:
                assert set(pool.map(ask, range(80))) == {200}
        assert "Traceback" not in (tmp_path / "log").read_text()
