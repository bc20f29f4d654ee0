"""When a thread behind the requests takes up its work."""

from __future__ import annotations

import time
from threading import Event

from app.delivery.worker.background import Background


def test_work_that_has_time_waits_for_its_pause() -> None:
    worked = Event()
    background = Background("test", lambda: worked.set())
    begun = time.monotonic()
    background.begin(0.2)
    assert worked.wait(5)
    assert time.monotonic() - begun >= 0.2
    background.stop(5)


def test_a_wake_cuts_the_pause_short() -> None:
    worked = Event()
    background = Background("test", lambda: worked.set())
    background.begin(60)
    background.wake()
    assert worked.wait(5)
    background.stop(5)
