"""The honest twins, for tests: what happens behind the request happens when it is asked for."""

from __future__ import annotations

from collections.abc import Iterable

from flask import Flask

from .courier import Courier
from .message import Email


class MemoryPost:
    """Everything is sent, to a list."""

    def __init__(self) -> None:
        self.sent: list[Email] = []

    def send_soon(self, email: Email) -> None:
        self.sent.append(email)


class ManualEngine:
    """Delivers when it is told to."""

    def __init__(self) -> None:
        self.woken: list[str] = []

    def attend(self, app: Flask, courier: Courier) -> None:
        self._app = app
        self.courier = courier

    def start(self) -> None:
        return None

    def wake(self, channels: Iterable[str]) -> None:
        self.woken.extend(channels)

    def stop(self, seconds: float) -> None:
        return None

    def deliver(self) -> None:
        """Send all that is due now, on every channel."""
        with self._app.app_context():
            for name in self.courier.channels.names():
                while self.courier.work(name) == 0.0:
                    pass
