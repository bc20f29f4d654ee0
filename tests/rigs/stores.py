"""A Redis server that a test can stop, unlike the machine's server."""

from __future__ import annotations

import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

import redis

from .backends import redis_process, wait_for_port


@dataclass
class Store:
    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server without data."""
        self.process = redis_process(self.folder, self.port)
        wait_for_port(self.port)

    def revive(self) -> None:
        """Make the server respond again, after it was stopped or paused."""
        self.send(signal.SIGCONT)
        if self.process is None or self.process.poll() is not None:
            self.start()

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait(timeout=10)

    def send(self, number: signal.Signals) -> None:
        if self.process is not None:
            self.process.send_signal(number)

    def flush(self) -> None:
        with redis.Redis(port=self.port) as client:
            client.flushall()
