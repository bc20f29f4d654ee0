"""Sessions that are long over go."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import delete, or_, select

from ...core.clock import Clock
from ...core.db.transaction import AnySession, transaction
from .models import AccountSession

# For so long it can be seen when and why one has ended.
KEEP_DAYS = 30


@dataclass(eq=False)
class SessionRetention:
    session: AnySession
    clock: Clock

    def prune(self, batch: int) -> int:
        """Delete those that ended a month ago, so many at a time, and tell how many they were."""
        before = self.clock.now() - timedelta(days=KEEP_DAYS)
        over = (
            select(AccountSession.id)
            .where(or_(AccountSession.expires_at < before, AccountSession.ended_at < before))
            .limit(batch)
        )
        gone = 0
        while True:
            with transaction(self.session):
                deleted: Any = self.session.execute(
                    delete(AccountSession)
                    .where(AccountSession.id.in_(over))
                    .execution_options(synchronize_session=False)
                )
            count: int = deleted.rowcount
            gone += count
            if count < batch:
                return gone
