"""Programs that use a token without a break while something ends it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.client import HTTPConnection
from threading import Event, Semaphore

# The requests of each connection before the end, and those that begin afterwards.
BEFORE, AFTER = 2, 3
# In seconds.
PATIENCE = 30.0


@dataclass
class Uses:
    """The statuses of requests: those that began before the response of the end, and the others."""

    before: Counter[int] = field(default_factory=Counter)
    after: Counter[int] = field(default_factory=Counter)

    def __add__(self, other: Uses) -> Uses:
        return Uses(self.before + other.before, self.after + other.after)


def end_while_used(
    connections: Sequence[HTTPConnection], path: str, token: str, end: Callable[[], object]
) -> Uses:
    """Use a token over all connections at once, and end it during these uses."""
    warm, ended = Semaphore(0), Event()

    def use(connection: HTTPConnection) -> Uses:
        uses = Uses()
        while uses.after.total() < AFTER:
            # Asked before the request is sent: a request of the same moment counts as before.
            statuses = uses.after if ended.is_set() else uses.before
            connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
            response = connection.getresponse()
            response.read()
            statuses[response.status] += 1
            if uses.before.total() == BEFORE and statuses is uses.before:
                warm.release()
        return uses

    with ThreadPoolExecutor(len(connections)) as threads:
        running = [threads.submit(use, each) for each in connections]
        try:
            for _ in connections:
                assert warm.acquire(timeout=PATIENCE)
            end()
        finally:
            ended.set()
        return sum((each.result() for each in running), Uses())
