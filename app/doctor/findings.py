"""The findings of the doctor, and a time limit for checks of other servers."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from threading import Thread
from typing import Literal, NamedTuple


class Finding(NamedTuple):
    check: str
    level: Literal["fault", "warning"]
    message: str


Check = Callable[[], Iterator[Finding]]


def run_within(seconds: float, task: Callable[[], object]) -> None:
    """Run a task in a thread, and raise its exception, or TimeoutError.

    The libraries' timeouts are for one step each, or do not cover the name server.
    """
    done: Future[None] = Future()

    def run() -> None:
        try:
            task()
            done.set_result(None)
        except Exception as error:
            done.set_exception(error)

    Thread(target=run, name="frontdesk-doctor", daemon=True).start()
    done.result(seconds)
