"""A task of the worker for rows that become due, such as deletions of accounts."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Engine, Select

from ...core.clock import Clock
from ...core.db.base import autocommit_engine

# How often the worker looks for due rows, and repeats work that failed.
PAUSE_SECONDS = 60.0


@dataclass(eq=False)
class DueRows:
    # Selects when the first row is due.
    first: Select[Any]
    work_on_due: Callable[[], object]
    engine: Engine
    clock: Clock
    _next_at: datetime | None = field(default=None, init=False)

    def seconds_until_due(self) -> float | None:
        with autocommit_engine(self.engine).connect() as connection:
            due = connection.execute(self.first).scalar()
        return None if due is None else (due - self.clock.now()).total_seconds()

    def work(self, stopping: Callable[[], bool]) -> float | None:
        now = self.clock.now()
        if self._next_at is None or self._next_at <= now:
            self._next_at = now + timedelta(seconds=PAUSE_SECONDS)
            wait = self.seconds_until_due()
            if wait is not None and wait <= 0:
                self.work_on_due()
        return PAUSE_SECONDS
