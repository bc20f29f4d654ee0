"""The concurrency limiter for password hashing: first come, first served, across processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pytest

from app.accounts.hashing_limiter import HashingLimiter, ProcessLimiter, SharedLimiter

from ..rigs.processes import within
from ..rigs.servers import checkout_environment

GETNCNT = 14

# Acquires a slot, prints a line, and releases the slot on input or when killed.
OTHER_PROCESS = """
import sys
from app.accounts.hashing_limiter import HashingLimiter

release = HashingLimiter(1, name=sys.argv[1]).take(20)
print("taken", flush=True)
sys.stdin.readline()
release()
"""


@pytest.fixture
def queue() -> Iterator[str]:
    """Return a queue name that is unique to the test."""
    name = f"test {os.getpid()} {os.urandom(4).hex()}"
    yield name
    remove(name)


def remove(queue: str) -> None:
    subprocess.run(["ipcrm", "-S", str(SharedLimiter(1, queue)._key)], check=True)


def count_waiting(queue: str) -> int:
    shared = SharedLimiter(1, queue)
    return int(shared._kernel.semctl(shared._id, 0, GETNCNT))


@contextmanager
def other_process(queue: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", OTHER_PROCESS, queue]
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


def test_processes_are_served_in_order(queue: str) -> None:
    release = HashingLimiter(1, name=queue).take(0)
    assert release
    with ExitStack() as stack:
        others = []
        for number in range(3):
            others.append(stack.enter_context(other_process(queue)))
            within(10, lambda: count_waiting(queue) > number)  # noqa: B023
        release()
        for remaining, process in zip((2, 1, 0), others, strict=True):
            assert has_taken(process)
            assert count_waiting(queue) == remaining
            process.communicate("\n", timeout=10)
    assert HashingLimiter(1, name=queue).take(0)


def test_slot_of_a_killed_process_is_released(queue: str) -> None:
    limiter = HashingLimiter(1, patience=20, name=queue)
    with other_process(queue) as process, ThreadPoolExecutor(1) as pool:
        assert has_taken(process)
        waiting = pool.submit(limiter.take, 20)
        within(10, lambda: count_waiting(queue) == 1)
        process.kill()
        release = waiting.result(10)
    assert release
    assert release != limiter._local.release


def test_stopped_process_does_not_block_others_forever(queue: str) -> None:
    limiter = HashingLimiter(1, patience=0.1, name=queue)
    with other_process(queue) as process:
        assert has_taken(process)
        process.send_signal(signal.SIGSTOP)
        release = limiter.take(1)
        assert release
        assert not limiter.take(0.2)
        release()
        assert limiter.take(0.2)


def test_removed_semaphore_is_created_again(queue: str) -> None:
    limiter = HashingLimiter(1, patience=20, name=queue)
    first = limiter.take(0)
    assert first
    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(limiter.take, 20)
        within(10, lambda: count_waiting(queue) == 1)
        remove(queue)
        assert second.result(10)
    # The slot of the removed semaphore is not returned to the new one.
    first()
    assert not HashingLimiter(1, patience=0, name=queue)._take_shared(0)


def test_each_process_has_its_own_limit_where_semaphores_are_unavailable(
    queue: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(sys, "platform", "darwin")
        limiter = HashingLimiter(1, name=queue)
        release = limiter.take(0)
        assert release
        assert not limiter.take(0.01)
        release()
        assert limiter.take(0)
    assert HashingLimiter(1, name=queue)._take_shared(0)


def test_threads_are_served_in_order() -> None:
    limiter = ProcessLimiter(1)
    served: list[int] = []

    def wait(number: int) -> None:
        assert limiter.take(10)
        served.append(number)
        limiter.release()

    assert limiter.take(0)
    with ThreadPoolExecutor(8) as pool:
        for number in range(8):
            pool.submit(wait, number)
            within(10, lambda: len(limiter._waiting) > number)  # noqa: B023
        limiter.release()
    assert served == list(range(8))


def test_waiting_thread_is_not_overtaken() -> None:
    limiter = ProcessLimiter(1)
    assert limiter.take(0)
    with ThreadPoolExecutor(1) as pool:
        early = pool.submit(limiter.take, 10)
        within(10, lambda: len(limiter._waiting) == 1)
        limiter.release()
        assert not limiter.take(0)
        assert early.result()


def test_timeout_leaves_no_slot_taken() -> None:
    limiter = ProcessLimiter(1)
    assert limiter.take(0)
    assert not limiter.take(0.01)
    limiter.release()
    assert limiter.take(0)
    assert not limiter.take(0)
