"""Real servers, for tests that a test client cannot run."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .backends import free_port, wait_for_port

ROOT = Path(__file__).resolve().parents[2]
GUNICORN = ("gunicorn", "-c", str(ROOT / "gunicorn.conf.py"))


def bare_environment(**more: str) -> dict[str, str]:
    """Return the environment that a process needs, without any setting of the service."""
    names = ("PATH", "HOME", "LANG", "TMPDIR", "PYTHONPATH")
    return {name: os.environ[name] for name in names if name in os.environ} | more


def checkout_environment(**more: str) -> dict[str, str]:
    """Return the environment of a process that imports the checkout from any working folder.

    A test starts such a process in its own folder, the default: in the checkout, the process would
    read the developer's `.env` and write to the developer's `instance/`.
    """
    environment = bare_environment(**more)
    paths = [str(ROOT), *filter(None, [environment.get("PYTHONPATH")])]
    return environment | {"PYTHONPATH": os.pathsep.join(paths)}


@dataclass
class Server:
    port: int
    process: subprocess.Popen[bytes]

    def workers(self) -> list[int]:
        """Return the ids of the worker processes."""
        path = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(pid) for pid in path.read_text().split()]

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)


@contextmanager
def gunicorn(settings: Mapping[str, str], log: Path, *options: str) -> Iterator[int]:
    """Run the service under gunicorn as in production and yield its port."""
    with gunicorn_server(settings, log, *options) as server:
        yield server.port


@contextmanager
def gunicorn_server(
    settings: Mapping[str, str],
    log: Path,
    *options: str,
    port: int | None = None,
    application: str = "wsgi:app",
) -> Iterator[Server]:
    with _server([*GUNICORN, *options, application], settings, log, port) as server:
        yield server


@contextmanager
def _server(
    command: list[str], settings: Mapping[str, str], log: Path, port: int | None = None
) -> Iterator[Server]:
    port = port or free_port()
    with log.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", *command],
            env=checkout_environment(BIND=f"127.0.0.1:{port}", **settings),
            stdout=output,
            stderr=output,
        )
        try:
            wait_for_port(port, 30)
            yield Server(port, process)
        finally:
            process.terminate()
            process.wait(timeout=35)


def send_raw(port: int, sent: bytes) -> str:
    """Send bytes and return the response, until the server closes the connection."""
    received = b""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        while chunk := connection.recv(65536):
            received += chunk
    return received.decode("latin-1")
