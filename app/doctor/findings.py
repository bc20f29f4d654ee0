"""What a check of the doctor says, and how long it may ask."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from threading import Thread
from typing import Literal, NamedTuple


class Finding(NamedTuple):
    check: str
    level: Literal["fault", "warning"]
    message: str


Check = Callable[[], Iterator[Finding]]


def ask_within(seconds: float, ask: Callable[[], object]) -> None:
    """Raises what `ask` raises, or TimeoutError: a name server that is away, or a server that
    answers each question late, holds nobody up."""
    answered: Future[None] = Future()

    def run() -> None:
        try:
            ask()
            answered.set_result(None)
        except Exception as error:
            answered.set_exception(error)

    Thread(target=run, name="frontdesk-doctor", daemon=True).start()
    answered.result(seconds)
