"""How many password hashes are computed at once: one for each core, in the order of requests.

All processes of a user on a machine share one queue, a System V semaphore; a turn that a killed
process held is returned by the kernel. Where there is no such queue, or it does not move, each
process has its own. Why: docs/decisions/turns.md.
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

# As long as the last request waits where there is a process for each core and all of them are full.
# A request that waits longer waits for a process that is stopped and keeps the turns that it has.
PATIENCE = 6.0

_IPC_CREAT, _IPC_NOWAIT, _SEM_UNDO = 0o1000, 0o4000, 0x1000
_OWNER_ALONE = 0o600
# Two semaphores: how many turns are free, and whether a process has set how many there are.
_FREE, _SAID = 0, 1
# systemd removes semaphores (RemoveIPC) when another unit of the same user ends.
_REMOVED = (errno.EIDRM, errno.EINVAL)

# The number of a semaphore, the change and the flags: `struct sembuf` of the kernel.
Step = tuple[int, int, int]

Params = ParamSpec("Params")
Result = TypeVar("Result")

log = logging.getLogger(__name__)


class HashingLimiter:
    """One line for all processes, since nobody who signs in chooses which of them serves him. Where
    there is no such line, or it does not move, each process has its own."""

    def __init__(self, at_once: int, patience: float = PATIENCE, line: str = "frontdesk") -> None:
        self._at_once = at_once
        self._patience = patience
        self._line = line
        self._own = ProcessLimiter(at_once)
        self._common: SharedLimiter | None = None
        self._alone = False

    def take(self, seconds: float) -> Callable[[], None] | None:
        """Wait for a turn, for so long at most; what it returns gives the turn back."""
        until = time.monotonic() + seconds
        if give_back := self._take_common(min(seconds, self._patience)):
            return give_back
        return self._own.give_back if self._own.take(until - time.monotonic()) else None

    def compute(
        self,
        seconds: float,
        work: Callable[Params, Result],
        *args: Params.args,
        **kw: Params.kwargs,
    ) -> Result:
        """Return what the work returns. Raise TooManyHashes where no turn comes in time.

        `gunicorn -k gevent` serves all requests in one thread: there a native thread of gevent's
        pool computes, and waits neither for greenlets nor for the database.
        """
        give_back = self.take(seconds)
        if give_back is None:
            raise TooManyHashes
        try:
            if not _has_greenlets():
                return work(*args, **kw)
            gevent: Any = sys.modules["gevent"]
            return cast(Result, gevent.get_hub().threadpool.apply(work, args, kw))
        finally:
            give_back()

    def _take_common(self, seconds: float) -> Callable[[], None] | None:
        # The kernel would keep all greenlets waiting.
        if self._alone or _has_greenlets():
            return None
        try:
            return self._opened().take(seconds)
        except OSError as error:
            self._alone = True
            log.info("Sign-ins wait in a line of each process: %s", error)
            return None

    def _opened(self) -> SharedLimiter:
        if self._common is None:
            self._common = SharedLimiter(self._at_once, self._line)
        return self._common


def _has_greenlets() -> bool:
    """Whether gevent has put greenlets in the place of threads."""
    monkey = sys.modules.get("gevent.monkey")
    return monkey is not None and bool(monkey.is_module_patched("threading"))


class ProcessLimiter:
    """A fair semaphore: a free turn goes to the thread that has waited longest."""

    def __init__(self, at_once: int) -> None:
        self._free = at_once
        self._waiting: deque[Event] = deque()
        self._lock = Lock()

    def take(self, seconds: float) -> bool:
        """Wait for a turn, for so long at most."""
        with self._lock:
            if self._free:
                self._free -= 1
                return True
            mine = Event()
            self._waiting.append(mine)
        if mine.wait(seconds):
            return True
        with self._lock:
            if not mine.is_set():
                self._waiting.remove(mine)
            return mine.is_set()

    def give_back(self) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._free += 1


class SharedLimiter:
    """Raises an OSError where the machine has no such line, or has it not for us."""

    def __init__(self, at_once: int, name: str = "frontdesk") -> None:
        # A shorter `long` may not be what the kernel takes for seconds.
        if sys.platform != "linux" or struct.calcsize("l") < 8:
            raise OSError(errno.ENOSYS, "no common line but on Linux with 64 bits")
        import ctypes  # only where a queue is opened, which few commands do

        self._errno = ctypes.get_errno
        self._at_once = at_once
        self._key = crc32(f"{name} {os.getuid()} {at_once}".encode()) & 0x7FFFFFFF or 1
        self._kernel: Any = ctypes.CDLL(None, use_errno=True)
        self._id = self._open()

    def take(self, seconds: float) -> Callable[[], None] | None:
        """Wait for a turn, for so long at most; what it returns gives the turn back."""
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
        return partial(self._give_back, number) if taken else None

    def _give_back(self, number: int) -> None:
        try:
            self._do(number, (_FREE, 1, _SEM_UNDO))
        except OSError as error:
            if error.errno not in _REMOVED:
                raise

    def _open(self) -> int:
        number: int = self._kernel.semget(self._key, 2, _IPC_CREAT | _OWNER_ALONE)
        if number < 0:
            raise self._error()
        # In one step, so that of two who come first only one says it.
        self._do(number, (_SAID, 0, _IPC_NOWAIT), (_SAID, 1, 0), (_FREE, self._at_once, 0))
        return number

    def _do(self, number: int, *steps: Step, until: float = 0.0) -> bool:
        """All of the steps together; False where that was not possible in time."""
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
