"""The systemd units of deploy/: a restart behind a socket that the test passes as systemd would."""

from __future__ import annotations

import http.client
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from ..conftest import SECRET
from ..rigs.servers import GUNICORN, checkout_environment
from ..rigs.traffic import (
    NO_RESPONSE,
    TIMEOUT,
    Client,
    migrate_with_accounts,
    sign_in_clients,
    stored_titles,
    traffic,
)

# After the fork and before the exec, pass the socket as descriptor 3 to this process.
HAND_OVER = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ |= {"LISTEN_FDS": "1", "LISTEN_PID": str(os.getpid())}
os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
"""


@dataclass
class Unit:
    """frontdesk.service as systemd runs it: ready after READY=1, stopped by SIGTERM."""

    listener: socket.socket
    folder: Path
    settings: dict[str, str]
    process: subprocess.Popen[bytes] | None = None

    @property
    def port(self) -> int:
        port: int = self.listener.getsockname()[1]
        return port

    def start(self) -> None:
        number = str(self.listener.fileno())
        notify = self.folder / "notify"
        with (
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notifications,
            self.log.open("a") as log,
        ):
            notifications.bind(str(notify))
            notifications.settimeout(30)
            self.process = subprocess.Popen(
                [sys.executable, "-c", HAND_OVER, number, "-m", *GUNICORN, "wsgi:app"],
                env=checkout_environment(NOTIFY_SOCKET=str(notify), **self.settings),
                pass_fds=[self.listener.fileno()],
                stdout=log,
                stderr=log,
            )
            assert notifications.recv(1000).startswith(b"READY=1")
        notify.unlink()

    def stop(self) -> int:
        assert self.process is not None
        self.process.terminate()
        return self.process.wait(timeout=35)

    @property
    def log(self) -> Path:
        return self.folder / "log"


@pytest.fixture
def unit(tmp_path: Path) -> Iterator[Unit]:
    url = f"sqlite:///{tmp_path / 'frontdesk.db'}"
    migrate_with_accounts(url)
    settings = {
        "SECRET_KEY": SECRET,
        "CORE__DATABASE_URL": url,
        "CORE__KEYSTORE": "database",
        "AUTH__RATE_LIMITS_ENABLED": "false",
        # The traffic of the tests comes from one IP address.
        "TASKS__CREATE_LIMIT": "1000000 per minute",
        "WEB_CONCURRENCY": "2",
    }
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as listener:
        unit = Unit(listener, tmp_path, settings)
        unit.start()
        yield unit
        unit.stop()


@contextmanager
def keep_alive_connection(port: int) -> Iterator[Callable[[], int]]:
    """Yield a function that sends requests over one keep-alive connection, as a proxy does."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)

    def ask() -> int:
        try:
            connection.request("GET", "/api/v1/tasks/")
            response = connection.getresponse()
            response.read()
            return response.status
        except (OSError, http.client.HTTPException):
            connection.close()
            return NO_RESPONSE

    yield ask
    connection.close()


def test_restart_behind_the_socket_loses_no_request(unit: Unit) -> None:
    active, revoked = sign_in_clients(unit.port)
    form = {"username": "unknown@example.com", "password": "wrong"}

    def sign_in() -> int:
        """Sign in, which takes so long that each stop finds the request running."""
        return Client(unit.port).ask("POST", "/login", form=form)[0]

    with (
        keep_alive_connection(unit.port) as reuse,
        traffic(unit.port, active, revoked, login=sign_in, keep_alive=reuse) as ledger,
    ):
        for _ in range(3):
            time.sleep(0.3)
            assert unit.stop() == 0
            unit.start()
        time.sleep(0.3)
    expected = {"account": 200, "revoked": 401, "write": 201, "health": 200, "login": 400}
    assert {kind: ledger.statuses(kind) for kind in expected} == {
        k: {v} for k, v in expected.items()
    }
    assert ledger.statuses("keep_alive") == {200}
    assert set(ledger.acknowledged) <= stored_titles(unit.port)


def test_missing_metrics_socket_is_logged(unit: Unit) -> None:
    unit.stop()
    unit.settings |= {"CORE__METRICS_ENABLED": "true", "CORE__METRICS_BIND": "127.0.0.1:9100"}
    unit.start()
    with keep_alive_connection(unit.port) as ask:
        assert ask() == 200
    assert "No socket listens at CORE__METRICS_BIND" in unit.log.read_text()
