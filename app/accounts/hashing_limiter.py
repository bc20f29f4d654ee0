"""Limits concurrent password hashing to one hash per core, in the order of requests.

All processes of a user on a machine share one queue, a System V semaphore; the kernel releases the
slots of a killed process. Without such a queue, or if it is stuck, each process has its own. See
docs/decisions/sign-in-queue.md.
"""

from __future__ import annotations

import errno
import logging
import os
import struct
import sys
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from threading import Event, Lock
from typing import Any, ParamSpec, TypeVar, cast
from zlib import crc32

from .errors import TooManyHashes

# The longest wait if there is a process per core and all are busy. A longer wait means that a
# stopped process keeps its slots.
PATIENCE = 6.0

_IPC_CREAT, _IPC_NOWAIT, _SEM_UNDO = 0o1000, 0o4000, 0x1000
_OWNER_ONLY = 0o600
# Two semaphores: the number of free slots, and whether a process has initialized it.
_FREE, _INITIALIZED = 0, 1
# systemd removes semaphores (RemoveIPC) when another unit of the same user ends.
_REMOVED = (errno.EIDRM, errno.EINVAL)

# The number of a semaphore, the change and the flags: `struct sembuf` of the kernel.
Step = tuple[int, int, int]

Params = ParamSpec("Params")
Result = TypeVar("Result")

log = logging.getLogger(__name__)


class HashingLimiter:
    """Uses one queue for all processes, because a client cannot choose its process; if there is no
    shared queue, or it is stuck, the queue of this process."""

    def __init__(self, at_once: int, patience: float = PATIENCE, name: str = "frontdesk") -> None:
        self._at_once = at_once
        self._patience = patience
        self._name = name
        self._local = ProcessLimiter(at_once)
        self._shared: SharedLimiter | None = None
        self._only_local = False

    def take(self, seconds: float) -> Callable[[], None] | None:
        """Wait for a slot; return a function that releases it, or None after the timeout."""
        until = time.monotonic() + seconds
        if release := self._take_shared(min(seconds, self._patience)):
            return release
        return self._local.release if self._local.take(until - time.monotonic()) else None

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
        release = self.take(seconds)
        if release is None:
            raise TooManyHashes
        try:
            if not _has_greenlets():
                return work(*args, **kw)
            gevent: Any = sys.modules["gevent"]
            return cast(Result, gevent.get_hub().threadpool.apply(work, args, kw))
        finally:
            release()

    def _take_shared(self, seconds: float) -> Callable[[], None] | None:
        # Waiting in the kernel would block all greenlets.
        if self._only_local or _has_greenlets():
            return None
        try:
            return self._open_shared().take(seconds)
        except OSError as error:
            self._only_local = True
            log.info("Each process has its own queue for password hashes: %s", error)
            return None

    def _open_shared(self) -> SharedLimiter:
        if self._shared is None:
            self._shared = SharedLimiter(self._at_once, self._name)
        return self._shared


def _has_greenlets() -> bool:
    """Return whether gevent has replaced threads by greenlets."""
    monkey = sys.modules.get("gevent.monkey")
    return monkey is not None and bool(monkey.is_module_patched("threading"))


class ProcessLimiter:
    """A fair semaphore: a free slot goes to the thread that has waited longest."""

    def __init__(self, at_once: int) -> None:
        self._free = at_once
        self._waiting: deque[Event] = deque()
        self._lock = Lock()

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


class SharedLimiter:
    """A queue of all processes; raises OSError if the machine has none, or denies access."""

    def __init__(self, at_once: int, name: str = "frontdesk") -> None:
        # With a shorter `long`, the kernel may expect another type for seconds.
        if sys.platform != "linux" or struct.calcsize("l") < 8:
            raise OSError(errno.ENOSYS, "the shared queue requires 64-bit Linux")
        import ctypes  # loaded only to open a queue, which few commands do

        self._errno = ctypes.get_errno
        self._at_once = at_once
        self._key = crc32(f"{name} {os.getuid()} {at_once}".encode()) & 0x7FFFFFFF or 1
        self._kernel: Any = ctypes.CDLL(None, use_errno=True)
        self._id = self._open()

    def take(self, seconds: float) -> Callable[[], None] | None:
        """Wait for a slot; return a function that releases it, or None after the timeout."""
        until = time.monotonic() + seconds
        try:
            return self._take(until)
        except OSError as error:
            if error.errno not in _REMOVED:
                raise
            self._id = self._open()
            return self._take(until)

    def _take(self, until: float) -> Callable[[], None] | None:
        number = self._id
        taken = self._do(number, (_FREE, -1, _SEM_UNDO), until=until)
        return partial(self._release, number) if taken else None

    def _release(self, number: int) -> None:
        try:
            self._do(number, (_FREE, 1, _SEM_UNDO))
        except OSError as error:
            if error.errno not in _REMOVED:
                raise

    def _open(self) -> int:
        number: int = self._kernel.semget(self._key, 2, _IPC_CREAT | _OWNER_ONLY)
        if number < 0:
            raise self._error()
        # One atomic operation, so that only one process initializes the semaphore.
        self._do(
            number, (_INITIALIZED, 0, _IPC_NOWAIT), (_INITIALIZED, 1, 0), (_FREE, self._at_once, 0)
        )
        return number

    def _do(self, number: int, *steps: Step, until: float = 0.0) -> bool:
        """Apply all steps atomically; return False after the timeout."""
        array = b"".join(struct.pack("Hhh", *step) for step in steps)
        while True:
            nanoseconds = int(max(0.0, until - time.monotonic()) * 1e9)
            limit = struct.pack("ll", *divmod(nanoseconds, 1_000_000_000))
            done = self._kernel.semtimedop(number, array, len(steps), limit)
            if done == 0:
                return True
            error = self._error()
            if error.errno == errno.EAGAIN:
                return False
            if error.errno != errno.EINTR:
                raise error

    def _error(self) -> OSError:
        number = self._errno()
        return OSError(number, os.strerror(number))
