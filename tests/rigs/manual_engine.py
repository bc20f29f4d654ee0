"""An engine that delivers on demand."""

from collections.abc import Iterable

from flask import Flask

from app.delivery.worker.worker import Worker


class ManualEngine:
    """Delivers only when a test calls `deliver`."""

    def __init__(self) -> None:
        self.woken: list[str] = []

    def bind(self, app: Flask, worker: Worker) -> None:
        self._app = app
        self._worker = worker

    def start(self) -> None:
        return None

    def wake(self, channels: Iterable[str]) -> None:
        self.woken.extend(channels)

    def stop(self, seconds: float) -> None:
        return None

    def deliver(self) -> None:
        """Send all that is due now, on every channel."""
        with self._app.app_context():
            self._worker.drain()
