from datetime import UTC, datetime, timedelta


class SteppingClock:
    """A clock with the real time that can be moved forward."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead

    def step(self, **by: float) -> None:
        self.ahead += timedelta(**by)
