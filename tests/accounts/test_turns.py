"""Whoever waits for a core is served in order, also by another process: a late login does not
overtake an early one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pytest

from app.accounts.turns import CommonTurns, OwnTurns, Turns

from ..rigs.processes import within
from ..rigs.servers import checkout_environment

GETNCNT = 14

# Says when it has a turn, and gives it back when it is told to, or ended.
ANOTHER = """
import sys
from app.accounts.turns import Turns

give_back = Turns(1, line=sys.argv[1]).take(20)
print("taken", flush=True)
sys.stdin.readline()
give_back()
"""


@pytest.fixture
def line() -> Iterator[str]:
    """The name of a line of the test's own."""
    name = f"test {os.getpid()} {os.urandom(4).hex()}"
    yield name
    remove(name)


def remove(line: str) -> None:
    subprocess.run(["ipcrm", "-S", str(CommonTurns(1, line)._key)], check=True)


def waiting(line: str) -> int:
    common = CommonTurns(1, line)
    return int(common._kernel.semctl(common._id, 0, GETNCNT))


@contextmanager
def another(line: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", ANOTHER, line]
    pipe = subprocess.PIPE
    environment = checkout_environment()
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment) as process:
        try:
            yield process
        finally:
            process.kill()


def has_taken(process: subprocess.Popen[str]) -> bool:
    assert process.stdout is not None
    return process.stdout.readline() == "taken\n"


def test_processes_are_served_in_the_order_of_coming(line: str) -> None:
    give_back = Turns(1, line=line).take(0)
    assert give_back
    with ExitStack() as stack:
        others = []
        for number in range(3):
            others.append(stack.enter_context(another(line)))
            within(10, lambda: waiting(line) > number)  # noqa: B023
        give_back()
        for left, process in zip((2, 1, 0), others, strict=True):
            assert has_taken(process)
            assert waiting(line) == left
            process.communicate("\n", timeout=10)
    assert Turns(1, line=line).take(0)


def test_the_turn_of_a_killed_process_goes_to_the_next(line: str) -> None:
    turns = Turns(1, patience=20, line=line)
    with another(line) as process, ThreadPoolExecutor(1) as pool:
        assert has_taken(process)
        mine = pool.submit(turns.take, 20)
        within(10, lambda: waiting(line) == 1)
        process.kill()
        give_back = mine.result(10)
    assert give_back
    assert give_back != turns._own.give_back


def test_a_stopped_process_does_not_keep_the_others_for_good(line: str) -> None:
    turns = Turns(1, patience=0.1, line=line)
    with another(line) as process:
        assert has_taken(process)
        process.send_signal(signal.SIGSTOP)
        give_back = turns.take(1)
        assert give_back
        assert not turns.take(0.2)
        give_back()
        assert turns.take(0.2)


def test_a_line_that_is_removed_is_made_anew(line: str) -> None:
    turns = Turns(1, patience=20, line=line)
    first = turns.take(0)
    assert first
    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(turns.take, 20)
        within(10, lambda: waiting(line) == 1)
        remove(line)
        assert second.result(10)
    # It is not given back to a line that it was not taken from.
    first()
    assert not Turns(1, patience=0, line=line)._take_common(0)


def test_without_such_a_line_a_process_has_its_own(
    line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(sys, "platform", "darwin")
        turns = Turns(1, line=line)
        give_back = turns.take(0)
        assert give_back
        assert not turns.take(0.01)
        give_back()
        assert turns.take(0)
    assert Turns(1, line=line)._take_common(0)


def test_in_a_process_whoever_waits_is_served_in_the_order_of_coming() -> None:
    turns = OwnTurns(1)
    served: list[int] = []

    def wait(number: int) -> None:
        assert turns.take(10)
        served.append(number)
        turns.give_back()

    assert turns.take(0)
    with ThreadPoolExecutor(8) as pool:
        for number in range(8):
            pool.submit(wait, number)
            within(10, lambda: len(turns._waiting) > number)  # noqa: B023
        turns.give_back()
    assert served == list(range(8))


def test_nobody_takes_the_turn_of_one_who_waits() -> None:
    turns = OwnTurns(1)
    assert turns.take(0)
    with ThreadPoolExecutor(1) as pool:
        early = pool.submit(turns.take, 10)
        within(10, lambda: len(turns._waiting) == 1)
        turns.give_back()
        assert not turns.take(0)
        assert early.result()


def test_whoever_gives_up_leaves_no_turn_behind() -> None:
    turns = OwnTurns(1)
    assert turns.take(0)
    assert not turns.take(0.01)
    turns.give_back()
    assert turns.take(0)
    assert not turns.take(0)
