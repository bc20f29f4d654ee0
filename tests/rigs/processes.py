"""The service in separate processes, which tests can kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa

from ..conftest import SECRET, Backend
from .backends import free_port, wait_for_port
from .servers import GUNICORN, checkout_environment


class Service:
    """The settings of an installation, and the processes started with them."""

    def __init__(self, backend: Backend, folder: Path, **environment: str) -> None:
        self.engine = sa.create_engine(backend.database_url)
        self.environment = checkout_environment() | {
            "SECRET_KEY": SECRET,
            "CORE__DATABASE_URL": backend.database_url,
            "CORE__KEYSTORE": "database",
            "CORE__LOG_LEVEL": "WARNING",
            "AUTH__BCRYPT_ROUNDS": "4",
            "TMPDIR": str(folder),
            **environment,
        }

    def start(self, *command: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", *command],
            env=self.environment,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def send(self) -> subprocess.Popen[bytes]:
        return self.start("flask", "--app", "wsgi", "notifications", "send")

    @contextmanager
    def server(self) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
        port = free_port()
        process = self.start(*GUNICORN, "-b", f"127.0.0.1:{port}", "wsgi:app")
        try:
            wait_for_port(port, 60)
            yield f"http://127.0.0.1:{port}/api/v1", process
        finally:
            kill(process)

    @contextmanager
    def worker(self, processes: int = 2) -> Iterator[subprocess.Popen[bytes]]:
        """Run a Celery worker with `processes` child processes; kill it at the end."""
        options = ["-c", str(processes), "-l", "ERROR"]
        process = self.start("celery", "-A", "wsgi:celery", "worker", *options)
        try:
            yield process
        finally:
            kill(process)

    def add_accounts(self, count: int) -> None:
        rows = [
            {
                "email": f"p{number}@example.com",
                "status": "active",
                "role": "user",
                "created_at": "2026-01-01 00:00:00",
            }
            for number in range(count)
        ]
        with self.engine.begin() as connection:
            connection.execute(
                sa.text(
                    "INSERT INTO accounts (email, status, role, created_at)"
                    " VALUES (:email, :status, :role, :created_at)"
                ),
                rows,
            )

    def count(self, table: str) -> int:
        with self.engine.connect() as connection:
            return int(connection.execute(sa.text(f"SELECT count(*) FROM {table}")).scalar_one())

    def end_leases(self) -> None:
        """Expire the leases of deliveries, as if half a minute had passed."""
        with self.engine.begin() as connection:
            connection.execute(
                sa.text("UPDATE frontdesk_deliveries SET due_at = '2026-01-01 00:00:00'"
                        " WHERE state = 'pending'")
            )  # fmt: skip
            connection.execute(
                sa.text("UPDATE frontdesk_expansions SET due_at = '2026-01-01 00:00:00'")
            )


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill the process and all processes it started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(timeout=10)


def within(seconds: float, is_done: Callable[[], bool]) -> None:
    until = time.monotonic() + seconds
    while not is_done():
        assert time.monotonic() < until, f"not done within {seconds} seconds"
        time.sleep(0.02)
