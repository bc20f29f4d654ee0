"""The concurrency limiter for password hashing: first come, first served."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from app.accounts.hashing_limiter import HashingLimiter

from ..rigs.processes import within


def test_threads_are_served_in_order() -> None:
    limiter = HashingLimiter(1)
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
    limiter = HashingLimiter(1)
    assert limiter.take(0)
    with ThreadPoolExecutor(1) as pool:
        early = pool.submit(limiter.take, 10)
        within(10, lambda: len(limiter._waiting) == 1)
        limiter.release()
        assert not limiter.take(0)
        assert early.result()


def test_timeout_leaves_no_slot_taken() -> None:
    limiter = HashingLimiter(1)
    assert limiter.take(0)
    assert not limiter.take(0.01)
    limiter.release()
    assert limiter.take(0)
    assert not limiter.take(0)
