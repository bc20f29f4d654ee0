"""The breaker by itself: who waits, who is refused, and when all is well again."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Event

from app.core.breaker import Breaker


class Server:
    def __init__(self, *, there: bool) -> None:
        self.there = there
        self.asked = 0

    def reach(self) -> None:
        self.asked += 1
        if not self.there:
            raise TimeoutError


def wait_until(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + 2
    while not condition():
        assert time.monotonic() < until, "not in time"
        time.sleep(0.01)


def test_a_silent_server_is_refused_until_it_answers() -> None:
    server = Server(there=False)
    breaker = Breaker("server", server.reach)
    breaker.suspect()
    assert breaker.tripped
    server.there = True
    wait_until(lambda: not breaker.tripped)


def test_a_server_that_was_slow_only_once_is_refused_to_nobody() -> None:
    breaker = Breaker("server", Server(there=True).reach)
    breaker.suspect()
    assert not breaker.tripped


def test_many_suspicions_send_one_to_look() -> None:
    looking = Event()
    asked = []

    def reach() -> None:
        asked.append(1)
        looking.wait(2)

    breaker = Breaker("server", reach)
    for _ in range(5):
        breaker.suspect()
    assert breaker.tripped
    looking.set()
    wait_until(lambda: not breaker.tripped)
    assert len(asked) == 1


def test_it_trips_again_after_it_has_recovered() -> None:
    server = Server(there=True)
    breaker = Breaker("server", server.reach)
    breaker.suspect()
    wait_until(lambda: server.asked == 1)
    server.there = False
    time.sleep(0.05)
    breaker.suspect()
    assert breaker.tripped
    server.there = True
    wait_until(lambda: not breaker.tripped)
