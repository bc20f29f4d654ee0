"""Reload, stop and start of the real servers, with traffic running through them."""

from __future__ import annotations

import signal
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ..conftest import SECRET
from ..rigs.backends import postgres_database
from ..rigs.servers import ROOT, SERVERS, Server, gunicorn_server
from ..rigs.traffic import Client, furnish, people, stored, traffic


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    url = f"sqlite:///{tmp_path_factory.mktemp('reload') / 'frontdesk.db'}"
    furnish(url)
    return url


@pytest.fixture(params=SERVERS)
def kind(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def server(kind: str, url: str, tmp_path: Path) -> Iterator[Server]:
    """Two workers, no secret set, and a keystore that they share."""
    settings = {
        "CORE__DATABASE_URL": url,
        "CORE__KEYSTORE": "database",
        "AUTH__RATE_LIMITS_ENABLED": "false",
        # The traffic of the tests comes from one IP address.
        "TASKS__CREATE_LIMIT": "1000000 per minute",
        "WEB_CONCURRENCY": "2",
    }
    with SERVERS[kind](settings, tmp_path / "log") as server:
        yield server


def wait_for_other_workers(server: Server, than: set[int]) -> None:
    until = time.monotonic() + 30
    while set(server.workers()) & than or len(server.workers()) < 2:
        assert time.monotonic() < until, "the workers are still the same"
        time.sleep(0.05)


def test_a_reload_loses_no_request(server: Server) -> None:
    living, revoked = people(server.port)
    with traffic(server.port, living, revoked) as ledger:
        time.sleep(0.3)
        before = set(server.workers())
        server.send(signal.SIGHUP)
        wait_for_other_workers(server, before)
        time.sleep(0.3)
    assert ledger.statuses("account") == {200}
    assert ledger.statuses("revoked") == {401}
    assert ledger.statuses("write") == {201}
    assert ledger.statuses("health") == {200}
    assert set(ledger.acknowledged) <= stored(server.port)


def test_a_reload_hangs_up_on_nobody_who_is_slow_to_ask(server: Server) -> None:
    """The connection is there, its request only a moment later."""
    over = threading.Event()

    def ask_slowly(_: int) -> set[bytes]:
        answers = set()
        while not over.is_set():
            with socket.create_connection(("127.0.0.1", server.port), timeout=15) as connection:
                time.sleep(0.1)
                connection.sendall(
                    b"GET /api/v1/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
                )
                answers.add(connection.recv(12))
        return answers

    with ThreadPoolExecutor(8) as pool:
        answers = pool.map(ask_slowly, range(8))
        try:
            time.sleep(0.3)
            before = set(server.workers())
            server.send(signal.SIGHUP)
            wait_for_other_workers(server, before)
        finally:
            over.set()
        assert set().union(*answers) == {b"HTTP/1.1 200"}


def test_a_stop_lets_what_has_begun_come_to_its_end(server: Server) -> None:
    """Some logins are being computed when the server is told to stop."""
    form = {"username": "nobody@example.com", "password": "wrong"}
    begun = threading.Barrier(4)

    def log_in(_: int) -> int:
        begun.wait()
        return Client(server.port).ask("POST", "/login", form=form)[0]

    with ThreadPoolExecutor(3) as pool:
        answers = pool.map(log_in, range(3))
        begun.wait()
        time.sleep(0.3)
        server.send(signal.SIGTERM)
        assert set(answers) == {400}
    assert server.process.wait(timeout=30) == 0


SLOW_START = f"""
import runpy, time
globals().update(runpy.run_path({str(ROOT / "gunicorn.conf.py")!r}))
inherited = post_fork
def post_fork(server, worker):
    inherited(server, worker)
    time.sleep(2)
"""


def test_a_stop_is_heard_by_a_worker_that_has_only_just_begun(url: str, tmp_path: Path) -> None:
    """Unheard, it would go on taking requests, and be killed over them in the end."""
    (tmp_path / "slow.py").write_text(SLOW_START)
    options = ["-c", str(tmp_path / "slow.py"), "--graceful-timeout", "25"]
    settings = {"CORE__DATABASE_URL": url, "SECRET_KEY": SECRET}
    with gunicorn_server(settings, tmp_path / "log", *options) as server:
        while not server.workers():
            time.sleep(0.05)
        time.sleep(0.5)
        server.send(signal.SIGTERM)
        assert server.process.wait(timeout=20) == 0


def test_without_a_secret_the_workers_share_a_random_one(server: Server) -> None:
    """Each request has a connection of its own, so both workers meet the token."""
    living, _ = people(server.port)
    assert len(server.workers()) == 2
    assert {living.ask("GET", "/account")[0] for _ in range(40)} == {200}


def test_workers_share_no_database_connection(kind: str, tmp_path: Path) -> None:
    """Shared ones would answer one worker's question to another."""
    with postgres_database("frontdesk_fork") as url:
        furnish(url)
        settings = {"CORE__DATABASE_URL": url, "WEB_CONCURRENCY": "2", "SECRET_KEY": SECRET}
        with SERVERS[kind](settings, tmp_path / "log") as server:
            paths = ["/tasks/", "/health/ready"]

            def ask(number: int) -> int:
                return Client(server.port).ask("GET", paths[number % 2])[0]

            with ThreadPoolExecutor(8) as pool:
                assert set(pool.map(ask, range(80))) == {200}
        assert "Traceback" not in (tmp_path / "log").read_text()
