"""The only source of the current time, so that tests can replace the clock."""

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Protocol

# The clocks of several machines may differ.
LEEWAY = timedelta(seconds=2)


class Clock(Protocol):
    def now(self) -> datetime: ...


class SystemClock:
    now = staticmethod(partial(datetime.now, UTC))
