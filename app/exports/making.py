"""Makes data exports in the background: one at a time, each with a few attempts."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from tempfile import TemporaryFile
from typing import Any

from sqlalchemy import Engine, String, cast, inspect, select
from sqlalchemy.orm import Session

from ..accounts.models import AccountLike, queried_attributes
from ..auth.schemas import account_read
from ..core.clock import Clock
from ..core.data_export import CheckActive, DataExporter, DataSubject, ExportReader
from ..core.db.account_ids import MAX_STRING_LENGTH, IntegerIds, id_kind_of
from ..core.db.base import autocommit_engine
from ..core.db.transaction import AnySession
from ..core.hooks import Hooks
from ..core.queue import LeasedQueue
from ..core.types import AccountModel, JsonObject
from ..core.web.request_data import schema_instance
from ..delivery.worker.jobs import Job, JobRunner
from ..delivery.worker.lease import retry_until_written
from ..storage import LargeFileStore
from .archive import Archive
from .models import FAILED, IS_PENDING, READY, AccountExport

# The worker's name of the task. The name of a channel has no space.
MAKE_EXPORTS = "frontdesk exports"


@dataclass(eq=False)
class ExportMaking:
    queue: LeasedQueue
    clock: Clock
    keep: timedelta
    writer: ExportWriter
    files: LargeFileStore
    make_session: Callable[[], Session]
    # The application's account model.
    model: AccountModel

    def runner(self) -> JobRunner:
        return JobRunner(
            self.queue,
            "Export",
            [AccountExport.account_id],
            AccountExport.attempts,
            self._make,
            lambda job: self.queue.finish(job.claim, job.row.id, state=FAILED),
        )

    def _make(self, job: Job, check_active: CheckActive) -> None:
        with TemporaryFile() as file:
            # Not the application's session: a request may be using it.
            with self.make_session() as session:
                account = session.get(self.model, job.row.account_id)
                if account is None:
                    return
                with Archive(file) as archive:
                    self.writer.write(archive, account, session, check_active)
            size = file.seek(0, 2)
            self._store(job, file, size)

    def _store(self, job: Job, file: Any, size: int) -> None:
        name = f"{secrets.token_hex(16)}.zip"
        self.files.put_from(name, file, "application/zip")
        finished: list[bool] = []
        try:
            retry_until_written(lambda: finished.append(self._finish(job, name, size)))
        finally:
            if not any(finished):
                self.files.delete(name)

    def _finish(self, job: Job, file: str, size: int) -> bool:
        """Return False if the account was deleted or another worker has claimed the job."""
        expires_at = self.clock.now() + self.keep
        values = {"state": READY, "file": file, "size": size, "expires_at": expires_at}
        return self.queue.finish(job.claim, job.row.id, **values)


def export_queue(engine: Engine, clock: Clock) -> LeasedQueue:
    return LeasedQueue(engine, clock, AccountExport, IS_PENDING)


@dataclass(eq=False)
class ExportWriter:
    """Writes the files of one data export: first our packages, then the application's exporters."""

    engine: Engine
    hooks: Hooks
    exporters: Sequence[DataExporter]
    is_email_verified: Callable[[AccountLike], bool]

    def write(
        self, archive: Archive, account: AccountLike, session: AnySession, check_active: CheckActive
    ) -> None:
        """Write all files. `check_active` is called before each statement, and raises to stop."""
        archive.json("account.json", _account_data(account))
        tables = frozenset(inspect(self.engine).get_table_names())
        reader = ExportReader(autocommit_engine(self.engine), tables, check_active)
        subject = DataSubject(
            account.id,
            account.email if self.is_email_verified(account) else None,
            _recipient_id(account, session),
        )
        # The exporters take long: end the transaction first.
        session.rollback()
        for exporter in self.exporters:
            for name, content in exporter.export(subject, reader):
                _write_file(archive, name, content)
        for folder, application_exporter in self.hooks.named("exporter").items():
            for name, content in application_exporter(account, session):
                check_active()
                archive.add(folder, name, content)


def _write_file(archive: Archive, name: str, content: Any) -> None:
    if name.endswith(".jsonl"):
        archive.lines(name, content)
    elif isinstance(content, bytes):
        archive.bytes(name, content)
    else:
        archive.json(name, content)


def _account_data(account: object) -> JsonObject:
    """Return all columns that Frontdesk uses and all that the owner may read, without the hash."""
    names = (name for name in queried_attributes(type(account)) if name != "password_hash")
    columns = {name: getattr(account, name) for name in names}
    readable: JsonObject = schema_instance(account_read()).dump(account)
    return {**columns, **readable}


def _recipient_id(account: Any, session: AnySession) -> Any:
    """Return the id as the outbox stores it: ids that are no integers as text."""
    key = type(account).id
    [column] = select(key).selected_columns
    if isinstance(id_kind_of(column.type), IntegerIds):
        return account.id
    return session.scalar(select(cast(key, String(MAX_STRING_LENGTH))).where(key == account.id))
