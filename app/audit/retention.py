from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from ..core.clock import Clock
from ..core.db.pruning import delete_in_batches
from ..core.db.transaction import AnySession
from ..core.records.models import Record
from .settings import AuditSettings


@dataclass(eq=False)
class RecordRetention:
    session: AnySession
    clock: Clock
    settings: AuditSettings

    def prune(self, batch: int = 5_000) -> int:
        """Delete the records that have been kept long enough and return how many."""
        if self.settings.KEEP_DAYS is None:
            return 0
        before = self.clock.now() - timedelta(days=self.settings.KEEP_DAYS)
        return delete_in_batches(
            self.session, Record, Record.at < before, batch=batch, order_by=Record.at
        )
