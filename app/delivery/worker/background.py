"""A background thread, started when it is first needed, in the process that needs it.

Threads do not exist after a fork, and their locks would never be released, so a forked process
creates them again.
"""

import logging
import time
from collections.abc import Callable
from threading import Event, Lock, Thread

from ...core.process.servers import after_fork

log = logging.getLogger(__name__)

# Short, so that all processes of a server take part in a broadcast that one of them began.
SWEEP_SECONDS = 0.5
# The first sweep does not compete with the server's start or the first request for the processor.
FIRST_SWEEP_SECONDS = 0.5
IDLE_SECONDS = 30.0
RETRY_SECONDS = 2.0

# Does some work and returns the seconds until the next call; None: the next `wake`.
Work = Callable[[], float | None]


class Background:
    def __init__(self, name: str, work: Work) -> None:
        self._name = name
        self._work = work
        self._reset()
        after_fork(self._reset)

    def _reset(self) -> None:
        self._lock = Lock()
        self._woken = Event()
        self._stopping = False
        self._thread: Thread | None = None

    def wake(self) -> None:
        """Start the work now, and return at once."""
        with self._lock:
            self._woken.set()
            self._start(0.0)

    def begin(self, pause: float) -> None:
        """Start the work after a pause, and return at once."""
        with self._lock:
            self._start(pause)

    def _start(self, pause: float) -> None:
        if self._thread is None and not self._stopping:
            self._thread = Thread(target=self._run, args=(pause,), name=self._name, daemon=True)
            self._thread.start()

    @property
    def stopping(self) -> bool:
        return self._stopping

    def stop(self, seconds: float) -> None:
        """Wait at most so many seconds for the running work; no work is started afterwards."""
        with self._lock:
            self._stopping = True
            self._woken.set()
            thread = self._thread
        if thread is not None:
            thread.join(seconds)

    def _run(self, first_pause: float) -> None:
        pause: float | None = first_pause
        while not self._stopping:
            started = time.monotonic()
            woken = self._woken.wait(IDLE_SECONDS if pause is None else pause)
            if not woken and pause is None and self._ended_idle():
                return
            self._woken.clear()
            pause = self._do_work()
            if pause == 0.0 and time.monotonic() - started < 0.001:
                # Work that returns at once without progress must not use a whole core.
                time.sleep(0.001)

    def _do_work(self) -> float | None:
        try:
            return self._work()
        except Exception:
            log.exception("%s failed and will be retried", self._name)
            return RETRY_SECONDS

    def _ended_idle(self) -> bool:
        """End an idle thread, so that it does not keep its application alive. Return whether the
        thread has ended."""
        with self._lock:
            if self._woken.is_set():
                return False
            self._thread = None
            return True
