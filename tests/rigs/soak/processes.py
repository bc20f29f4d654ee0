"""Programs that are killed and started again, and a RabbitMQ server of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..backends import free_port, missing, wait_for_port
from ..proxies import prepare
from ..servers import GUNICORN, bare_environment, checkout_environment

# RabbitMQ needs half a minute on a busy machine.
START_SECONDS = 120
RABBITMQ = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
EPMD = "epmd"


@dataclass
class Program:
    """A program in a session of its own, so that it is killed with all processes it has started."""

    command: Sequence[str]
    environment: Mapping[str, str]
    folder: Path
    # The program has started when something listens here; 0: it does not listen.
    port: int = 0
    after_stop: Callable[[], object] = lambda: None
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    @property
    def log(self) -> Path:
        return self.folder / "log"

    def start(self) -> None:
        self.folder.mkdir(exist_ok=True)
        with self.log.open("a") as log:
            self.process = subprocess.Popen(
                self.command,
                env=self.environment,
                cwd=self.folder,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def wait(self) -> None:
        if self.port:
            wait_for_port(self.port, START_SECONDS)

    def kill(self) -> None:
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(timeout=10)

    def restart(self) -> None:
        self.start()
        self.wait()

    def stop(self) -> None:
        """Kill the program for good."""
        self.kill()
        self.after_stop()


def web_server(settings: Mapping[str, str], folder: Path) -> Program:
    port = free_port()
    environment = checkout_environment(BIND=f"127.0.0.1:{port}", **settings)
    return Program([sys.executable, "-m", *GUNICORN, "wsgi:app"], environment, folder, port)


def celery_worker(settings: Mapping[str, str], folder: Path) -> Program:
    """Return a worker with one process: it sends one email at a time."""
    options = ["-A", "wsgi:celery", "worker", "--concurrency", "1", "--loglevel", "WARNING"]
    command = [sys.executable, "-m", "celery", *options]
    return Program(command, checkout_environment(**settings), folder)


def nginx(first: int, second: int, folder: Path) -> Program:
    port, command = prepare("nginx", first, folder, second)
    return Program(command, bare_environment(), folder, port)


def rabbitmq(folder: Path) -> Program:
    """Return a server with its own data, its own name and its own Erlang port mapper."""
    if not RABBITMQ.exists():
        missing("RabbitMQ is not installed")
    port, mapper = free_port(), free_port()
    own = {
        "HOME": str(folder),
        "RABBITMQ_NODENAME": f"soak{port}@localhost",
        "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODE_PORT": str(port),
        "RABBITMQ_DIST_PORT": str(free_port()),
        "RABBITMQ_MNESIA_BASE": str(folder),
        "RABBITMQ_LOG_BASE": str(folder),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "enabled_plugins"),
        "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq"),
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
        "ERL_EPMD_PORT": str(mapper),
        "ERL_EPMD_ADDRESS": "127.0.0.1",
    }
    environment = bare_environment() | own

    def stop_mapper() -> None:
        # The port mapper is a daemon, which the server has started.
        subprocess.run(
            [EPMD, "-port", str(mapper), "-kill"], env=environment, capture_output=True, check=False
        )

    return Program([str(RABBITMQ)], environment, folder, port, stop_mapper)
