"""A contender and how to start it, with the same workers, threads and options for all."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench import proc, venvs
from bench.database import Data, migrated, service_environment
from bench.places import HOST, REDIS, RESULTS, ROOT, SECRET, THREADS, WORKERS

START_LIMIT = 30.0


@dataclass(frozen=True)
class Contender:
    name: str
    title: str
    account: str = "/account"
    inbox: str = "/inbox?offset=0&limit=50"
    threads: int = THREADS

    @property
    def is_service(self) -> bool:
        return self.name.startswith("frontdesk")

    def present(self) -> bool:
        return not self.is_service or migrated()

    def python(self) -> Path:
        return Path(sys.executable) if self.is_service else venvs.python(self.name)

    def environment(self, data: Data) -> dict[str, str]:
        if self.is_service:
            return service_environment(data)
        kept = {key: os.environ[key] for key in ("PATH", "HOME", "LANG", "TZ") if key in os.environ}
        return kept | {
            "SECRET_KEY": SECRET,
            "BENCH_DATABASE_URL": data.url,
            "BENCH_REDIS_URL": REDIS,
        }

    def command(self, port: int) -> list[str]:
        python = str(self.python())
        if self.name == "frontdesk_granian":
            options = [
                "--workers",
                str(WORKERS),
                "--blocking-threads",
                "64",
                "--backpressure",
                "128",
            ]
            options += ["--host", HOST, "--port", str(port), "--log-level", "warning"]
            return [python, "-m", "granian", "--interface", "wsgi", *options, "wsgi:app"]
        if self.name == "blacksheep":
            target = "bench.peers.blacksheep.app:app"
            options = ["--interface", "asgi", "--loop", "uvloop", "--workers", str(WORKERS)]
            options += ["--host", HOST, "--port", str(port), "--log-level", "warning"]
            return [python, "-m", "granian", *options, target]
        if self.name == "fastapi_users":
            target = "bench.peers.fastapi_users.app:app"
            options = ["--host", HOST, "--port", str(port), "--workers", str(WORKERS)]
            options += ["--no-access-log", "--log-level", "warning", "--timeout-keep-alive", "30"]
            return [python, "-m", "uvicorn", target, *options]
        target = "wsgi:app" if self.is_service else f"bench.peers.{self.name}.app:app"
        own = self.is_service and (ROOT / "gunicorn.conf.py").exists()
        # Without this file, gunicorn would use the service's configuration for the peers too.
        config = ["-c", "gunicorn.conf.py" if own else PEERS_CONFIG]
        options = [] if own else ["--worker-class", "gthread"]
        options += [
            "--workers",
            str(WORKERS),
            "--threads",
            str(self.threads),
            "--keep-alive",
            "30",
            "--no-control-socket",
        ]
        return [python, "-m", "gunicorn", *config, *options, "--bind", f"{HOST}:{port}", target]


PEERS_CONFIG = "bench/peers/gunicorn.conf.py"

CONTENDERS = {
    contender.name: contender
    for contender in (
        Contender("limit", "limit (by hand)"),
        Contender("frontdesk", "Frontdesk", "/api/v1/account", "/api/v1/notifications/?limit=50"),
        Contender(
            "frontdesk_granian",
            "Frontdesk on granian",
            "/api/v1/account",
            "/api/v1/notifications/?limit=50",
        ),
        Contender("blacksheep", "asynchronous, by hand (BlackSheep)"),
        Contender("security", "Flask-Security-Too"),
        Contender("fastapi_users", "fastapi-users, uvicorn"),
        Contender("drf", "Django REST framework"),
        Contender("usual", "usual Flask-SQLAlchemy"),
    )
}


@dataclass
class Server:
    process: subprocess.Popen[bytes]
    port: int

    def pids(self) -> list[int]:
        return proc.family(self.process.pid)

    def workers(self) -> list[int]:
        """Return the worker processes, without the parent."""
        return [pid for pid in self.pids() if pid != self.process.pid]


@contextlib.contextmanager
def running(
    contender: Contender, data: Data, extra: Mapping[str, str] | None = None
) -> Iterator[Server]:
    """Start the contender and yield it listening; stop it with all its workers at the end."""
    RESULTS.mkdir(exist_ok=True)
    server = launch(contender, data, extra)
    try:
        wait_for_port(server)
        yield server
    finally:
        stop(server)


@contextlib.contextmanager
def mail_sink() -> Iterator[int]:
    """Start a mail server that only counts, and yield its port."""
    port = free_port()
    process = subprocess.Popen([sys.executable, "-m", "bench.smtp_sink", str(port)], cwd=ROOT)
    try:
        wait_for_port(Server(process, port))
        yield port
    finally:
        process.terminate()
        process.wait(5)


def launch(contender: Contender, data: Data, extra: Mapping[str, str] | None = None) -> Server:
    port = free_port()
    log = (RESULTS / f"{contender.name}.log").open("wb")
    with log:
        process = subprocess.Popen(
            contender.command(port),
            cwd=ROOT,
            env=contender.environment(data) | _address(contender, port) | dict(extra or {}),
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    return Server(process, port)


def _address(contender: Contender, port: int) -> dict[str, str]:
    """Return variables for servers that have no options; options on the command line take
    precedence."""
    return {
        "BIND": f"{HOST}:{port}",
        "WEB_CONCURRENCY": str(WORKERS),
        "WEB_THREADS": str(contender.threads),
    }


def wait_for_port(server: Server) -> None:
    deadline = time.monotonic() + START_LIMIT
    while time.monotonic() < deadline:
        if server.process.poll() is not None:
            break
        with contextlib.suppress(OSError), socket.create_connection((HOST, server.port), 1):
            return
        time.sleep(0.02)
    raise RuntimeError(f"no server on port {server.port}; its log is in {RESULTS}")


def stop(server: Server) -> None:
    """Terminate the server, and kill workers that still run after ten seconds."""
    server.process.send_signal(signal.SIGTERM)
    try:
        server.process.wait(10)
    except subprocess.TimeoutExpired:
        os.killpg(server.process.pid, signal.SIGKILL)
        server.process.wait(5)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port
