"""Deletions whose days are over, carried out behind the requests by whatever sends the mails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import Engine, func, select

from ..core.clock import Clock
from ..core.db.base import autocommitting
from .models import AccountDeletion
from .service import Deletion

# No channel has such a name: a host's are words.
CHORE = "frontdesk deletions"
# Whoever has waited for days is not looked for twice in a second, as mails are; and one that cannot
# go is tried again no sooner.
PAUSE_SECONDS = 60.0


@dataclass(eq=False)
class DueDeletions:
    deletion: Deletion
    engine: Engine
    clock: Clock
    _next_at: datetime | None = field(default=None, init=False)

    def seconds_until_due(self) -> float | None:
        first = select(func.min(AccountDeletion.deletes_at))
        with autocommitting(self.engine).connect() as connection:
            due = connection.execute(first).scalar()
        return None if due is None else (due - self.clock.now()).total_seconds()

    def work(self, stopping: Callable[[], bool]) -> float | None:
        now = self.clock.now()
        if self._next_at is None or self._next_at <= now:
            self._next_at = now + timedelta(seconds=PAUSE_SECONDS)
            wait = self.seconds_until_due()
            if wait is not None and wait <= 0:
                self.deletion.sweep()
        return PAUSE_SECONDS
