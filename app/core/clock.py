"""The only source of the current time, so that tests can replace the clock."""

from datetime import UTC, datetime
from functools import partial
from typing import Protocol


class Clock(Protocol):
    def now(self) -> datetime: ...


class SystemClock:
    now = staticmethod(partial(datetime.now, UTC))
