"""Data exports for their owners: request, download and expiry."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from itertools import islice
from typing import NamedTuple

from sqlalchemy import and_, or_, select

from ..accounts.actions import ACCOUNT_EXPORTED
from ..accounts.models import AccountLike
from ..core.clock import Clock
from ..core.context import report_action
from ..core.db.pruning import delete_rows
from ..core.db.transaction import AnySession, after_commit, lock_name, release, transaction
from ..core.translations import mark
from ..core.types import AccountKey, JsonObject
from ..delivery.mail.one_off import OwnerMail
from ..delivery.mail.templates import Templates
from ..delivery.worker.engine import Engine
from ..storage import FileMissing, LargeFileStore
from .making import MAKE_EXPORTS
from .models import FAILED, PENDING, READY, AccountExport
from .schemas import ExportNotFound, ExportNotReady, TooManyExports

INTERVAL = timedelta(days=1)
# An older file without a row is not about to get one.
ORPHAN_AGE = timedelta(hours=1)
# Names of our files, also of files that were written in part.
_FILE_NAME = re.compile(r"[0-9a-f]{32}\.zip(\.[0-9a-f]+\.part)?")


class ExportFile(NamedTuple):
    # The day of the request, in UTC.
    day: date
    size: int
    chunks: Iterator[bytes]


@dataclass(eq=False)
class Exports:
    session: AnySession
    files: LargeFileStore
    engine: Engine
    clock: Clock
    keep: timedelta
    # Called with the email address of the account.
    notify_owner: Callable[[str], object]

    def create(self, account: AccountLike) -> JsonObject:
        account_id, now = account.id, self.clock.now()
        email = account.email
        with transaction(self.session) as session:
            # Of two concurrent requests, the second finds the export of the first.
            lock_name(session, AccountExport, str(account_id))
            self._check_interval(account_id)
            export = AccountExport(
                account_id=account_id, state=PENDING, due_at=now, created_at=now, attempts=0
            )
            session.add(export)
            session.flush()
            report_action(session, ACCOUNT_EXPORTED, account_id=account_id)
            after_commit(session, lambda: self.engine.wake([MAKE_EXPORTS]))
            after_commit(session, lambda: self.notify_owner(email))
            # Not read from the row: without a background thread, the export is already made.
            return {
                "id": export.id,
                "state": PENDING,
                "size": None,
                "created_at": now,
                "expires_at": None,
            }

    def get(self, account_id: AccountKey, export_id: int) -> AccountExport:
        found = self.session.scalar(
            select(AccountExport).where(
                AccountExport.id == export_id, AccountExport.account_id == account_id
            )
        )
        if found is None or (found.expires_at and found.expires_at <= self.clock.now()):
            raise ExportNotFound
        return found

    def latest(self, account_id: AccountKey) -> AccountExport | None:
        """Return the newest export in any state, also expired."""
        found: AccountExport | None = self.session.scalar(
            select(AccountExport)
            .where(AccountExport.account_id == account_id)
            .order_by(AccountExport.id.desc())
            .limit(1)
        )
        return found

    def latest_valid(self, account_id: AccountKey) -> AccountExport | None:
        """Return the newest export, or None if it has expired."""
        found = self.latest(account_id)
        is_expired = found and found.expires_at and found.expires_at <= self.clock.now()
        return None if is_expired else found

    def read(self, account_id: AccountKey, export_id: int) -> ExportFile:
        found = self.get(account_id, export_id)
        if found.state != READY or found.file is None or found.size is None:
            raise ExportNotReady
        name, day, size = found.file, found.created_at.date(), found.size
        # Hold no database connection while the client downloads.
        release(self.session)
        try:
            return ExportFile(day, size, self.files.chunks(name))
        except FileMissing:
            raise ExportNotFound from None

    def delete_files(self, account: AccountLike) -> None:
        """Delete the files of an account after the transaction that deletes its rows."""
        named = select(AccountExport.file).where(
            AccountExport.account_id == account.id, AccountExport.file.is_not(None)
        )
        for name in self.session.scalars(named).all():
            if name is not None:
                after_commit(self.session, partial(self.files.delete, name))

    def prune(self, batch: int = 500) -> int:
        """Delete expired exports in batches, and files without a row."""
        now, deleted = self.clock.now(), 0
        expired = or_(
            AccountExport.expires_at <= now,
            and_(AccountExport.state == FAILED, AccountExport.created_at <= now - self.keep),
        )
        old = select(AccountExport.id, AccountExport.file).where(expired).limit(batch)
        while rows := self.session.execute(old).all():
            for row in rows:
                if row.file is not None:
                    self.files.delete(row.file)
            with transaction(self.session) as session:
                delete_rows(session, AccountExport, AccountExport.id.in_([row.id for row in rows]))
            deleted += len(rows)
        self._delete_orphans(batch)
        return deleted

    def _check_interval(self, account_id: AccountKey) -> None:
        """Raise TooManyExports after a recent export. A failed export is ignored."""
        newest = self.session.scalar(
            select(AccountExport.created_at)
            .where(AccountExport.account_id == account_id, AccountExport.state != FAILED)
            .order_by(AccountExport.id.desc())
            .limit(1)
        )
        if newest is not None and (wait := newest + INTERVAL - self.clock.now()) > timedelta():
            raise TooManyExports(math.ceil(wait.total_seconds()))

    def _delete_orphans(self, batch: int) -> None:
        """Delete files without a row, which a killed process may have left."""
        oldest = self.clock.now() - ORPHAN_AGE
        old = (
            file.name
            for file in self.files.files()
            if file.stored_at < oldest and _FILE_NAME.fullmatch(file.name)
        )
        while names := list(islice(old, batch)):
            named = set(
                self.session.scalars(
                    select(AccountExport.file).where(AccountExport.file.in_(names))
                )
            )
            for name in set(names) - named:
                self.files.delete(name)


def notify_owner(templates: Templates, owner_mail: OwnerMail, email_to: str) -> None:
    """Send the email about a requested export."""
    owner_mail.notify(
        templates.to_account("export_requested", email_to, mark("data export requested"))
    )
