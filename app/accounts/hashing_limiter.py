"""Limits concurrent password hashing to one hash per core in each process, first come first served.

See docs/decisions/sign-in-queue.md.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from threading import Event, Lock
from typing import Any, ParamSpec, TypeVar, cast

from .errors import TooManyHashes

Params = ParamSpec("Params")
Result = TypeVar("Result")


class HashingLimiter:
    """A fair semaphore: a free slot goes to the thread that has waited longest."""

    def __init__(self, at_once: int) -> None:
        self._free = at_once
        self._waiting: deque[Event] = deque()
        self._lock = Lock()

    def compute(
        self,
        seconds: float,
        work: Callable[Params, Result],
        *args: Params.args,
        **kw: Params.kwargs,
    ) -> Result:
        """Return the result of the work. Raise TooManyHashes if no slot is free in time.

        `gunicorn -k gevent` serves all requests in one thread: there, a native thread of gevent's
        pool computes the hash.
        """
        if not self.take(seconds):
            raise TooManyHashes
        try:
            if not _has_greenlets():
                return work(*args, **kw)
            gevent: Any = sys.modules["gevent"]
            return cast(Result, gevent.get_hub().threadpool.apply(work, args, kw))
        finally:
            self.release()

    def take(self, seconds: float) -> bool:
        """Wait for a slot; return False after the timeout."""
        with self._lock:
            if self._free:
                self._free -= 1
                return True
            event = Event()
            self._waiting.append(event)
        if event.wait(seconds):
            return True
        with self._lock:
            if not event.is_set():
                self._waiting.remove(event)
            return event.is_set()

    def release(self) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._free += 1


def _has_greenlets() -> bool:
    """Return whether gevent has replaced threads by greenlets."""
    monkey = sys.modules.get("gevent.monkey")
    return monkey is not None and bool(monkey.is_module_patched("threading"))
