from __future__ import annotations

from datetime import UTC, datetime, timedelta


class SteppingClock:
    """Runs with the real time, and steps forward when told to."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead

    def step(self, **by: float) -> None:
        self.ahead += timedelta(**by)
