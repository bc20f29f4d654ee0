"""Whoever waits for a core is served in order: a late login does not overtake an early one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from app.accounts.turns import Turns

from ..rigs.processes import within


def test_whoever_waits_is_served_in_the_order_of_coming() -> None:
    turns = Turns(1)
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
    turns = Turns(1)
    assert turns.take(0)
    with ThreadPoolExecutor(1) as pool:
        early = pool.submit(turns.take, 10)
        within(10, lambda: len(turns._waiting) == 1)
        turns.give_back()
        assert not turns.take(0)
        assert early.result()


def test_whoever_gives_up_leaves_no_turn_behind() -> None:
    turns = Turns(1)
    assert turns.take(0)
    assert not turns.take(0.01)
    turns.give_back()
    assert turns.take(0)
    assert not turns.take(0)
