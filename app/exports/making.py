"""The work itself, done behind the requests: one copy at a time, tried some times."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from tempfile import TemporaryFile
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from ..core.clock import Clock
from ..core.queue import LeasedQueue
from ..delivery.worker.jobs import Job, JobRunner
from ..delivery.worker.lease import insist
from ..storage import LargeFileStore
from .archive import Archive
from .models import FAILED, IS_PENDING, READY, AccountExport
from .writer import ExportWriter

# No channel has such a name: a host's are words.
CHORE = "frontdesk exports"


@dataclass(eq=False)
class ExportMaking:
    queue: LeasedQueue
    clock: Clock
    keep: timedelta
    writer: ExportWriter
    files: LargeFileStore
    make_session: Callable[[], Session]
    # The host's class of an account.
    model: type[Any]

    def runner(self) -> JobRunner:
        return JobRunner(
            self.queue,
            "Export",
            [AccountExport.account_id],
            AccountExport.attempts,
            self._make,
            lambda job: self.queue.finish(job.claim, job.row.id, state=FAILED),
        )

    def _make(self, job: Job, go_on: Callable[[], None]) -> None:
        with TemporaryFile() as file:
            # Of its own: a request may be under way on the application's.
            with self.make_session() as session:
                account = session.get(self.model, job.row.account_id)
                if account is None:
                    return
                with Archive(file) as archive:
                    self.writer.write(archive, account, session, go_on)
            size = file.seek(0, 2)
            self._keep(job, file, size)

    def _keep(self, job: Job, file: Any, size: int) -> None:
        name = f"{secrets.token_hex(16)}.zip"
        self.files.put_from(name, file, "application/zip")
        kept: list[bool] = []
        try:
            insist(lambda: kept.append(self._finish(job, name, size)))
        finally:
            if not any(kept):
                self.files.delete(name)

    def _finish(self, job: Job, file: str, size: int) -> bool:
        """Whether it was still ours: the account, or the claim, may be gone."""
        expires_at = self.clock.now() + self.keep
        values = {"state": READY, "file": file, "size": size, "expires_at": expires_at}
        return self.queue.finish(job.claim, job.row.id, **values)


def export_queue(engine: Engine, clock: Clock) -> LeasedQueue:
    return LeasedQueue(engine, clock, AccountExport, IS_PENDING)
