"""One line for all processes of a user on a machine: a semaphore of the kernel's (System V).
Whoever waits there is served in the order of coming; what a killed process held is given back.
Why so: docs/decisions/turns.md.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from zlib import crc32

_IPC_CREAT, _IPC_NOWAIT, _SEM_UNDO = 0o1000, 0o4000, 0x1000
_OWNER_ALONE = 0o600
# Two semaphores: how many turns are free, and whether somebody has said how many there are.
_FREE, _SAID = 0, 1
# Semaphores are removed by systemd (RemoveIPC) when another unit of the same user ends.
_REMOVED = (errno.EIDRM, errno.EINVAL)

Step = tuple[int, int, int]


class _Step(ctypes.Structure):
    _fields_ = (
        ("number", ctypes.c_ushort),
        ("change", ctypes.c_short),
        ("flags", ctypes.c_short),
    )


class _Time(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


class CommonTurns:
    """Raises an OSError where the machine has no such line, or has it not for us."""

    def __init__(self, at_once: int, name: str = "frontdesk") -> None:
        # A shorter `long` may not be what the kernel takes for seconds.
        if sys.platform != "linux" or ctypes.sizeof(ctypes.c_long) < 8:
            raise OSError(errno.ENOSYS, "no common line but on Linux with 64 bits")
        self._at_once = at_once
        self._key = crc32(f"{name} {os.getuid()} {at_once}".encode()) & 0x7FFFFFFF or 1
        self._kernel = ctypes.CDLL(None, use_errno=True)
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
            raise _error()
        # In one step, so that of two who come first only one says it.
        self._do(number, (_SAID, 0, _IPC_NOWAIT), (_SAID, 1, 0), (_FREE, self._at_once, 0))
        return number

    def _do(self, number: int, *steps: Step, until: float = 0.0) -> bool:
        """All of the steps together; False where that was not possible in time."""
        array = (_Step * len(steps))(*(_Step(*step) for step in steps))
        while True:
            nanoseconds = int(max(0.0, until - time.monotonic()) * 1e9)
            limit = _Time(*divmod(nanoseconds, 1_000_000_000))
            done = self._kernel.semtimedop(number, array, len(steps), ctypes.byref(limit))
            if done == 0:
                return True
            error = _error()
            if error.errno == errno.EAGAIN:
                return False
            if error.errno != errno.EINTR:
                raise error


def _error() -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number))
