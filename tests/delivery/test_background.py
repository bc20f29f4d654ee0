"""When a background thread starts its work."""

from __future__ import annotations

import time
from threading import Event

from app.delivery.worker.background import Background


def test_begin_waits_for_the_pause() -> None:
    worked = Event()
    background = Background("test", lambda: worked.set())
    start = time.monotonic()
    background.begin(0.2)
    assert worked.wait(5)
    assert time.monotonic() - start >= 0.2
    background.stop(5)


def test_wake_ends_the_pause() -> None:
    worked = Event()
    background = Background("test", lambda: worked.set())
    background.begin(60)
    background.wake()
    assert worked.wait(5)
    background.stop(5)
