"""Databases, Redis servers and RabbitMQ queues, created for one run of the suite."""

from __future__ import annotations

import os
import random
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psycopg
import pytest
from sqlalchemy.engine import make_url

POSTGRES = os.environ.get(
    "FRONTDESK_TEST_POSTGRES", "postgresql://postgres@127.0.0.1:5432/postgres"
)
AMQP = os.environ.get("FRONTDESK_TEST_AMQP", "amqp://guest:guest@127.0.0.1:5672//")
# A container's usual 64 MiB would not do.
ENOUGH_MEMORY = 256 * 2**20
NO_SKIPS = os.environ.get("FRONTDESK_NO_SKIPS") == "1"


def missing(what: str) -> None:
    """Skip the test, or fail it if `FRONTDESK_NO_SKIPS` forbids skipping."""
    if NO_SKIPS:
        pytest.fail(f"{what}, and FRONTDESK_NO_SKIPS=1 forbids skipping")
    pytest.skip(what)


def free_port() -> int:
    """Return a port outside the range of client ports: a client that retries until the server runs
    could otherwise get the server's port and connect to itself."""
    while True:
        port = random.randrange(15_000, 30_000)
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                continue
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def reserved_port() -> int:
    """Return a port that stays free while its server is stopped and started again."""
    return free_port()


@contextmanager
def memory_folder() -> Iterator[Path]:
    """Yield a folder for SQLite databases, in memory if possible: SQLite waits for the disk when it
    opens or closes a database."""
    memory = Path("/dev/shm")
    usable = os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > ENOUGH_MEMORY
    with TemporaryDirectory(prefix="frontdesk-test-", dir=memory if usable else None) as folder:
        yield Path(folder)


@contextmanager
def postgres_database(name: str) -> Iterator[str]:
    """Create a database and yield its SQLAlchemy URL."""
    try:
        server = psycopg.connect(POSTGRES, autocommit=True, connect_timeout=3)
    except psycopg.OperationalError:
        missing("PostgreSQL does not answer")
    with server:
        server.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        server.execute(f'CREATE DATABASE "{name}"')
        # The rows need not survive a power failure.
        server.execute(f'ALTER DATABASE "{name}" SET synchronous_commit = off')
        url = make_url(POSTGRES).set(drivername="postgresql+psycopg", database=name)
        try:
            yield url.render_as_string(hide_password=False)
        finally:
            server.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


def redis_process(folder: Path, port: int, *more: str) -> subprocess.Popen[bytes]:
    program = shutil.which("redis-server")
    if program is None:
        missing("redis-server is not installed")
    options = ["--port", str(port), "--save", "", "--appendonly", "no", "--dir", str(folder)]
    return subprocess.Popen(
        [str(program), "--bind", "127.0.0.1", *options, *more],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@contextmanager
def redis_server(folder: Path, port: int | None = None, *more: str) -> Iterator[str]:
    """Start a Redis server and yield its URL: the machine's own server may store other data."""
    port = port or free_port()
    process = redis_process(folder, port, *more)
    try:
        wait_for_port(port)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        process.terminate()
        process.wait(timeout=10)


@contextmanager
def rabbitmq_queue() -> Iterator[str]:
    """Create a queue on the machine's RabbitMQ and yield its name."""
    import kombu

    queue = f"frontdesk-test-{secrets.token_hex(4)}"
    broker: Any = kombu
    with broker.Connection(AMQP, connect_timeout=3) as connection:
        try:
            connection.connect()
        except OSError:
            missing("RabbitMQ does not answer")
    yield queue
    with broker.Connection(AMQP, connect_timeout=3) as connection:
        channel = connection.channel()
        channel.queue_delete(queue)
        channel.exchange_delete(queue)


def wait_for_port(port: int, seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with socket.socket() as probe:
            probe.settimeout(0.2)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise TimeoutError(f"Nothing listens on port {port}")
