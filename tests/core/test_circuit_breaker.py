"""The circuit breaker: which calls wait, which are rejected, and when the breaker closes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from threading import Event, Thread

import pytest

from app.core.process import circuit_breaker as breaker_module
from app.core.process.circuit_breaker import CircuitBreaker


class Server:
    def __init__(self, *, is_up: bool) -> None:
        self.is_up = is_up
        self.calls = 0

    def reach(self) -> None:
        self.calls += 1
        if not self.is_up:
            raise TimeoutError


def wait_until(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + 2
    while not condition():
        assert time.monotonic() < until, "not in time"
        time.sleep(0.01)


def test_silent_server_is_not_called_until_it_responds() -> None:
    server = Server(is_up=False)
    breaker = CircuitBreaker("server", server.reach)
    breaker.report_timeout()
    assert breaker.is_rejecting
    server.is_up = True
    wait_until(lambda: not breaker.is_rejecting)


def test_single_timeout_blocks_no_call() -> None:
    breaker = CircuitBreaker("server", Server(is_up=True).reach)
    breaker.report_timeout()
    assert not breaker.is_rejecting


def test_many_timeouts_start_one_check() -> None:
    check_may_end = Event()
    calls = []

    def reach() -> None:
        calls.append(1)
        check_may_end.wait(2)

    breaker = CircuitBreaker("server", reach)
    for _ in range(5):
        breaker.report_timeout()
    assert breaker.is_rejecting
    check_may_end.set()
    wait_until(lambda: not breaker.is_rejecting)
    assert len(calls) == 1


def test_breaker_opens_again_after_a_recovery() -> None:
    server = Server(is_up=True)
    breaker = CircuitBreaker("server", server.reach)
    breaker.report_timeout()
    wait_until(lambda: server.calls == 1)
    server.is_up = False
    time.sleep(0.05)
    breaker.report_timeout()
    assert breaker.is_rejecting
    server.is_up = True
    wait_until(lambda: not breaker.is_rejecting)


def test_calls_wait_for_a_running_check() -> None:
    server = Server(is_up=False)
    breaker = CircuitBreaker("server", server.reach)
    first = Thread(target=breaker.report_timeout)
    first.start()
    wait_until(lambda: server.calls > 0)
    rejected = []
    others = [Thread(target=lambda: rejected.append(breaker.is_rejecting)) for _ in range(3)]
    for other in others:
        other.start()
    for thread in (first, *others):
        thread.join()
    assert rejected == [True] * 3


def in_child(function: Callable[[], bool]) -> bool:
    """Return the result of a function in a forked process."""
    child = os.fork()
    if child == 0:
        os._exit(0 if function() else 1)
    return os.waitpid(child, 0)[1] == 0


def test_forked_workers_share_the_state() -> None:
    server = Server(is_up=False)
    breaker = CircuitBreaker("server", server.reach)

    def rejects_after_a_timeout() -> bool:
        breaker.report_timeout()
        return breaker.is_rejecting

    assert in_child(rejects_after_a_timeout)
    assert breaker.is_rejecting
    assert in_child(lambda: breaker.is_rejecting)


def test_state_set_by_a_dead_worker_expires(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(breaker_module, "MARGIN_SECONDS", 0.1)
    breaker = CircuitBreaker("server", Server(is_up=False).reach, check_seconds=0.1)

    def report_timeout() -> bool:
        breaker.report_timeout()
        return True

    assert in_child(report_timeout)
    assert breaker.is_rejecting
    wait_until(lambda: not breaker.is_rejecting)


def test_breaker_stays_open_during_a_check_of_several_hosts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The driver waits two seconds for one host after the other."""
    check_may_end, clock = Event(), time.monotonic
    breaker = CircuitBreaker("server", lambda: check_may_end.wait(10), check_seconds=4.0)
    breaker.report_timeout()
    monkeypatch.setattr(time, "monotonic", lambda: clock() + 4.0)
    assert breaker.is_open
    monkeypatch.setattr(time, "monotonic", lambda: clock() + 6.0)
    assert not breaker.is_open
    check_may_end.set()


def test_worker_forked_during_a_check_can_start_its_own_check() -> None:
    server = Server(is_up=False)
    breaker = CircuitBreaker("server", server.reach)
    breaker.report_timeout()

    def runs_its_own_check() -> bool:
        wait_until(lambda: not breaker.is_rejecting)
        breaker.report_timeout()
        return breaker.is_rejecting

    child = os.fork()
    if child == 0:
        os._exit(0 if runs_its_own_check() else 1)
    server.is_up = True
    wait_until(lambda: not breaker.is_rejecting)
    assert os.waitpid(child, 0)[1] == 0
