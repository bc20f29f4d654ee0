"""Engines run the worker: threads in this process, or Celery if a broker is configured.

Waking an engine is only a hint. Its next sweep finds all due rows, also those of a killed process.
"""

from __future__ import annotations

import atexit
import concurrent.futures.thread  # noqa: F401  # registers its function before ours
import logging
import threading
import time
import weakref
from collections.abc import Callable, Iterable
from typing import Protocol

from flask import Flask
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from ...core.process.servers import after_fork
from .background import FIRST_SWEEP_SECONDS, SWEEP_SECONDS, Background
from .worker import Worker

log = logging.getLogger(__name__)

RETRY_SECONDS = 5.0
SHUTDOWN_SECONDS = 5.0


class Engine(Protocol):
    def bind(self, app: Flask, worker: Worker) -> None:
        """Set the worker to run. Called once, when the application is created."""

    def start(self) -> None:
        """Start to look for due deliveries. Called in processes that serve requests."""

    def wake(self, channels: Iterable[str]) -> None:
        """Start to send new messages. Return at once and never raise."""

    def stop(self, seconds: float) -> None:
        """Release the unsent deliveries, and claim no more."""


class ThreadEngine:
    """A thread for each channel, so that a slow mail server does not delay SMS."""

    def __init__(self) -> None:
        self._threads: dict[str, Background] = {}
        self._started = False
        after_fork(self._reset)
        _engines.add(self)

    def _reset(self) -> None:
        self._started = False

    def bind(self, app: Flask, worker: Worker) -> None:
        self._app = app
        self._worker = worker

    def start(self) -> None:
        if not self._started:
            self._started = True
            for name in self._worker.names():
                self._thread(name).begin(FIRST_SWEEP_SECONDS)

    def wake(self, channels: Iterable[str]) -> None:
        for name in channels:
            self._thread(name).wake()

    def stop(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        # A request of another thread may still start one.
        threads = list(self._threads.values())
        for thread in threads:
            thread.stop(0)
        for thread in threads:
            thread.stop(max(0.0, until - time.monotonic()))

    def _thread(self, name: str) -> Background:
        found = self._threads.get(name)
        if found is None:
            found = Background(f"frontdesk-{name}", lambda: self._work(name))
            # Two threads may get here at once; one object is kept.
            found = self._threads.setdefault(name, found)
        return found

    def _work(self, name: str) -> float:
        thread = self._threads[name]
        try:
            with self._app.app_context():
                wait = self._worker.work(name, stopping=lambda: thread.stopping)
        except (DBAPIError, PoolTimeout) as error:
            # Logged in one line, because it will be logged again.
            log.warning("The queue of deliveries is unavailable: %s", type(error).__name__)
            return RETRY_SECONDS
        # Another process that stores deliveries does not wake this one.
        return SWEEP_SECONDS if wait is None else min(wait, SWEEP_SECONDS)


class InlineEngine:
    """For a database in memory: all threads share its connection, so a thread would write within a
    request's transaction. The request that stores a message also sends it."""

    def bind(self, app: Flask, worker: Worker) -> None:
        self._worker = worker

    def start(self) -> None:
        return None

    def wake(self, channels: Iterable[str]) -> None:
        self._worker.drain(channels)

    def stop(self, seconds: float) -> None:
        return None


_engines: weakref.WeakSet[ThreadEngine] = weakref.WeakSet()


def _stop_engines() -> None:
    """Release the claimed rows when the server stops, so that others can claim them at once."""
    for engine in list(_engines):
        engine.stop(SHUTDOWN_SECONDS)


# Functions of `atexit` run after the executors have ended, which the end of an application context
# may need: Flask-SQLAlchemy-Lite with `flask[async]` closes its sessions in one. The function
# registered last runs first, before the function of concurrent.futures.
_before_executors_end: Callable[[Callable[[], None]], object] = getattr(
    threading, "_register_atexit", atexit.register
)
_before_executors_end(_stop_engines)
