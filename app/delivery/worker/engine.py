"""What drives the worker: threads in this process, or Celery where a broker is configured.

Waking an engine is only a hint. The rows are found by its next sweep all the same, also those of a
process that died.
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
from .background import Background
from .worker import Worker

log = logging.getLogger(__name__)

# Often enough for the other processes of a server to join in a broadcast that one of them began.
SWEEP_SECONDS = 0.5
TROUBLE_SECONDS = 5.0
# The server's start, or the first request, ends before the first sweep takes its processor.
FIRST_SWEEP_SECONDS = 0.5
LEAVING_SECONDS = 5.0


class Engine(Protocol):
    def attend(self, app: Flask, worker: Worker) -> None:
        """Called once, when the application is created: take the worker of its deliveries."""

    def start(self) -> None:
        """Begin to look for due deliveries: this process serves requests. Cheap."""

    def wake(self, channels: Iterable[str]) -> None:
        """There is something new. Returns at once and never raises."""

    def stop(self, seconds: float) -> None:
        """Release the deliveries that are not sent yet, and claim no more."""


class FirstRequest:
    """Starts an engine before the first request of each process, and leaves later requests alone.

    Not every server calls `when_serving`, and a process may be forked after it did.
    """

    def __init__(self, app: Flask, engine: Engine) -> None:
        self._app = app
        self._engine = engine
        self._listen()
        after_fork(self._listen)

    def _listen(self) -> None:
        hooks = self._app.before_request_funcs.setdefault(None, [])
        if self._start not in hooks:
            hooks.append(self._start)

    def _start(self) -> None:
        hooks = self._app.before_request_funcs[None]
        # A new list: Flask may be going through this one, also for another request.
        self._app.before_request_funcs[None] = [each for each in hooks if each != self._start]
        self._engine.start()


class ThreadEngine:
    """A thread for each channel, so that a slow mail server holds up no SMS."""

    def __init__(self) -> None:
        self._threads: dict[str, Background] = {}
        self._started = False
        after_fork(self._reset)
        _engines.add(self)

    def _reset(self) -> None:
        self._started = False

    def attend(self, app: Flask, worker: Worker) -> None:
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
        for thread in self._threads.values():
            thread.stop(0)
        for thread in self._threads.values():
            thread.stop(max(0.0, until - time.monotonic()))

    def _thread(self, name: str) -> Background:
        found = self._threads.get(name)
        if found is None:
            found = Background(f"frontdesk-{name}", lambda: self._work(name))
            # Of two that are made at once, one stays.
            found = self._threads.setdefault(name, found)
        return found

    def _work(self, name: str) -> float:
        thread = self._threads[name]
        try:
            with self._app.app_context():
                wait = self._worker.work(name, stopping=lambda: thread.stopping)
        except (DBAPIError, PoolTimeout) as error:
            # Logged in one line, because it will be logged again.
            log.warning("The queue of deliveries is out of reach: %s", type(error).__name__)
            return TROUBLE_SECONDS
        # Never longer: deliveries stored by another process do not wake this one.
        return SWEEP_SECONDS if wait is None else min(wait, SWEEP_SECONDS)


class InlineEngine:
    """For a database in memory: all threads share its one connection, so a thread would write into
    the middle of a request's transaction. The request that stores a message sends it at once."""

    def attend(self, app: Flask, worker: Worker) -> None:
        self._worker = worker

    def start(self) -> None:
        return None

    def wake(self, channels: Iterable[str]) -> None:
        self._worker.drain(channels)

    def stop(self, seconds: float) -> None:
        return None


_engines: weakref.WeakSet[ThreadEngine] = weakref.WeakSet()


def _hand_back() -> None:
    """A server that stops in good order leaves its rows for others to take at once."""
    for engine in list(_engines):
        engine.stop(LEAVING_SECONDS)


# Functions of `atexit` run when executors have ended already, and an application context that the
# thread leaves may need one: Flask-SQLAlchemy-Lite with `flask[async]` closes its sessions in one.
# The last function registered here runs first, before the one that concurrent.futures registers.
_before_executors_end: Callable[[Callable[[], None]], object] = getattr(
    threading, "_register_atexit", atexit.register
)
_before_executors_end(_hand_back)
