"""The breaker by itself: who waits, who is refused, and when all is well again."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from threading import Event, Thread

import pytest

from app.core.process import circuit_breaker as breaker_module
from app.core.process.circuit_breaker import CircuitBreaker


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
    breaker = CircuitBreaker("server", server.reach)
    breaker.report_timeout()
    assert breaker.is_rejecting
    server.there = True
    wait_until(lambda: not breaker.is_rejecting)


def test_a_server_that_was_slow_only_once_is_refused_to_nobody() -> None:
    breaker = CircuitBreaker("server", Server(there=True).reach)
    breaker.report_timeout()
    assert not breaker.is_rejecting


def test_many_timeouts_start_one_check() -> None:
    looking = Event()
    asked = []

    def reach() -> None:
        asked.append(1)
        looking.wait(2)

    breaker = CircuitBreaker("server", reach)
    for _ in range(5):
        breaker.report_timeout()
    assert breaker.is_rejecting
    looking.set()
    wait_until(lambda: not breaker.is_rejecting)
    assert len(asked) == 1


def test_it_trips_again_after_it_has_recovered() -> None:
    server = Server(there=True)
    breaker = CircuitBreaker("server", server.reach)
    breaker.report_timeout()
    wait_until(lambda: server.asked == 1)
    server.there = False
    time.sleep(0.05)
    breaker.report_timeout()
    assert breaker.is_rejecting
    server.there = True
    wait_until(lambda: not breaker.is_rejecting)


def test_calls_wait_for_a_check_that_has_just_started() -> None:
    server = Server(there=False)
    breaker = CircuitBreaker("server", server.reach)
    first = Thread(target=breaker.report_timeout)
    first.start()
    wait_until(lambda: server.asked > 0)
    refused = []
    others = [Thread(target=lambda: refused.append(breaker.is_rejecting)) for _ in range(3)]
    for other in others:
        other.start()
    for thread in (first, *others):
        thread.join()
    assert refused == [True] * 3


def in_child(question: Callable[[], bool]) -> bool:
    """What a forked process answers."""
    child = os.fork()
    if child == 0:
        os._exit(0 if question() else 1)
    return os.waitpid(child, 0)[1] == 0


def test_forked_workers_know_it_of_each_other() -> None:
    server = Server(there=False)
    breaker = CircuitBreaker("server", server.reach)

    def refuses_after_a_suspicion() -> bool:
        breaker.report_timeout()
        return breaker.is_rejecting

    assert in_child(refuses_after_a_suspicion)
    assert breaker.is_rejecting
    assert in_child(lambda: breaker.is_rejecting)


def test_what_a_dead_worker_has_said_does_not_hold_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(breaker_module, "OPEN_SECONDS", 0.2)
    breaker = CircuitBreaker("server", Server(there=False).reach)

    def suspects() -> bool:
        breaker.report_timeout()
        return True

    assert in_child(suspects)
    assert breaker.is_rejecting
    wait_until(lambda: not breaker.is_rejecting)


def test_a_worker_that_was_forked_in_the_midst_of_a_suspicion_can_have_one_of_its_own() -> None:
    server = Server(there=False)
    breaker = CircuitBreaker("server", server.reach)
    breaker.report_timeout()

    def finds_out_for_itself() -> bool:
        wait_until(lambda: not breaker.is_rejecting)
        breaker.report_timeout()
        return breaker.is_rejecting

    child = os.fork()
    if child == 0:
        os._exit(0 if finds_out_for_itself() else 1)
    server.there = True
    wait_until(lambda: not breaker.is_rejecting)
    assert os.waitpid(child, 0)[1] == 0
