from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import delete, select

from ..core.clock import Clock
from ..core.db.transaction import AnySession, transaction
from ..core.records.models import Record
from .settings import AuditSettings


@dataclass(eq=False)
class RecordRetention:
    session: AnySession
    clock: Clock
    settings: AuditSettings

    def prune(self, batch: int) -> int:
        """Delete the records that have been kept long enough, and say how many."""
        if self.settings.KEEP_DAYS is None:
            return 0
        before = self.clock.now() - timedelta(days=self.settings.KEEP_DAYS)
        old = select(Record.id).where(Record.at < before).order_by(Record.at).limit(batch)
        gone = 0
        while True:
            with transaction(self.session):
                deleted: Any = self.session.execute(
                    delete(Record)
                    .where(Record.id.in_(old))
                    .execution_options(synchronize_session=False)
                )
            gone += int(deleted.rowcount)
            if deleted.rowcount < batch:
                return gone
