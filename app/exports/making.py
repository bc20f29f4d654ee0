"""The work itself, done behind the requests: one copy at a time, tried some times."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from tempfile import TemporaryFile
from typing import Any

from sqlalchemy import Engine, String, cast, inspect, select
from sqlalchemy.orm import Session

from ..accounts.models import asked_of
from ..auth.schemas import account_read
from ..core.clock import Clock
from ..core.data_export import CheckActive, DataSubject, Exporter, ExportReader
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
            retry_until_written(lambda: kept.append(self._finish(job, name, size)))
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


@dataclass(eq=False)
class ExportWriter:
    """Writes the files of one data export: those of each package, then those of the application."""

    engine: Engine
    hooks: Hooks
    exporters: Sequence[Exporter]
    is_email_verified: Callable[[Any], bool]

    def write(
        self, archive: Archive, account: Any, session: AnySession, pulse: CheckActive
    ) -> None:
        """Write all files. `pulse` is called before each statement and may raise to stop."""
        archive.json("account.json", _account_data(account))
        tables = frozenset(inspect(self.engine).get_table_names())
        reader = ExportReader(autocommit_engine(self.engine), tables, pulse)
        subject = DataSubject(
            account.id,
            account.email if self.is_email_verified(account) else None,
            _receiver_id(account, session),
        )
        # The exporters take long: no transaction stays open for them.
        session.rollback()
        for exporter in self.exporters:
            for name, content in exporter(subject, reader):
                _write_file(archive, name, content)
        for folder, application_exporter in self.hooks.named("exporter").items():
            for name, content in application_exporter(account, session):
                pulse()
                archive.foreign(folder, name, content)


def _write_file(archive: Archive, name: str, content: Any) -> None:
    if name.endswith(".jsonl"):
        archive.lines(name, content)
    elif isinstance(content, bytes):
        archive.bytes(name, content)
    else:
        archive.json(name, content)


def _account_data(account: object) -> JsonObject:
    """Return all columns that Frontdesk uses and all that the owner may read, without the hash."""
    names = (name for name in asked_of(type(account)) if name != "password_hash")
    columns = {name: getattr(account, name) for name in names}
    readable: JsonObject = schema_instance(account_read()).dump(account)
    return {**columns, **readable}


def _receiver_id(account: Any, session: AnySession) -> Any:
    """Return the id as the outbox stores it: the database casts ids that are no integers."""
    key = type(account).id
    [column] = select(key).selected_columns
    if isinstance(id_kind_of(column.type), IntegerIds):
        return account.id
    return session.scalar(select(cast(key, String(MAX_STRING_LENGTH))).where(key == account.id))
