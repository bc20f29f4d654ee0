from datetime import UTC, datetime, timedelta


class SteppingClock:
    """A clock with the real time that tests can move forward."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def now(self) -> datetime:
        """Return the current time of the clock.

        Returns:
            The time, in UTC.
        """
        return datetime.now(UTC) + self.ahead

    def step(self, **by: float) -> None:
        """Move the clock forward, for tokens, codes and rate limits.

        Args:
            by: Arguments of `timedelta`, such as `minutes`.

        Example::

            frontdesk.clock.step(minutes=31)
        """
        self.ahead += timedelta(**by)
