"""Imports accounts into the database in batches, each in a separate transaction.

Existing accounts are skipped, so that an interrupted import can be repeated. A row with an error is
refused, and the report gives the reason.
"""

from __future__ import annotations

import csv
import sqlite3
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from types import TracebackType
from typing import TextIO

from sqlalchemy.exc import DataError, IntegrityError, StatementError

from ..accounts.actions import ACCOUNTS_IMPORTED
from ..accounts.service import Accounts
from ..core.context import report_action
from ..core.db.transaction import extended_timeout, release, transaction
from ..core.types import AccountKey, JsonObject
from .account import ImportedAccount, Row, RowError, UnreadableRow
from .checking import CheckedAccount, Checks
from .existing import find_existing
from .updating import Updates
from .writing import AccountWriter

BATCH = 2_000
REPORT_COLUMNS = ("line", "email", "id", "outcome", "code", "reason")


@dataclass(frozen=True)
class ImportOptions:
    """The options of an import."""

    update: bool = False
    dry_run: bool = False
    emit: bool = False
    trusts_addresses: bool = False


class Report:
    """Counts, and a CSV file of refused rows and of accounts with a new id, without hashes."""

    def __init__(self, file: TextIO) -> None:
        self.read = self.imported = self.updated = self.present = self.new_ids = 0
        self.refused: Counter[str] = Counter()
        self.roles: Counter[str] = Counter()
        self.hashes: Counter[str] = Counter()
        self._lines = csv.writer(file)
        self._lines.writerow(REPORT_COLUMNS)

    def refuse(self, line: int, error: RowError, email: str = "", key: object = None) -> None:
        self.refused[error.code] += 1
        self._write(line, email, key, "refused", error.code, error.reason)

    def renumber(self, line: int, email: str, before: object, after: object) -> None:
        self.new_ids += 1
        self._write(line, email, after, "imported", "new_id", f"The id was {before}.")

    def numbers(self) -> JsonObject:
        return {
            "read": self.read,
            "imported": self.imported,
            "updated": self.updated,
            "present": self.present,
            "refused": self.refused.total(),
            "new_ids": self.new_ids,
            "reasons": dict(self.refused.most_common()),
            "roles": dict(self.roles.most_common()),
            "hashes": dict(self.hashes.most_common()),
        }

    def _write(self, *values: object) -> None:
        texts = (str("" if value is None else value) for value in values)
        self._lines.writerow(text.encode(errors="replace").decode() for text in texts)


class Importer:
    def __init__(self, accounts: Accounts, report: Report, options: ImportOptions) -> None:
        self.session = accounts.session
        self.report = report
        self.options = options
        self._checks = Checks(accounts, trusts_addresses=options.trusts_addresses)
        self.accounts = accounts
        self._writer = AccountWriter(accounts, emits=options.emit)
        self._updates = Updates(accounts, self._writer)

    def run(self, rows: Iterator[Row]) -> None:
        with SeenKeys() as seen:
            checked = self._checked(rows, seen)
            while batch := list(islice(checked, BATCH)):
                self._import(batch)

    def _checked(self, rows: Iterator[Row], seen: SeenKeys) -> Iterator[CheckedAccount]:
        for row in rows:
            self.report.read += 1
            if isinstance(row, UnreadableRow):
                self.report.refuse(row.line, row.error)
                continue
            try:
                checked = self._checks.check_account(row)
                _refuse_repeated(seen, row, checked)
            except RowError as error:
                self.report.refuse(row.line, error, row.email, row.id)
                continue
            yield checked

    def _import(self, batch: list[CheckedAccount]) -> None:
        imported, updated = self.report.imported, self.report.updated
        with transaction(self.session), extended_timeout(self.session):
            existing = find_existing(self.accounts, batch)
            new = []
            for checked in batch:
                try:
                    account_id = existing.account_of(checked)
                    existing.check(checked, account_id)
                except RowError as error:
                    self.report.refuse(checked.line, error, checked.email, checked.id)
                    continue
                if account_id is None:
                    new.append(checked)
                else:
                    self._update(checked, account_id)
            self._insert(new)
            if not self.options.dry_run:
                self._record(self.report.imported - imported, self.report.updated - updated)
        # Free the memory of the batch.
        release(self.session)

    def _record(self, created: int, updated: int) -> None:
        if created or updated:
            report_action(self.session, ACCOUNTS_IMPORTED, created=created, updated=updated)

    def _insert(self, new: list[CheckedAccount]) -> None:
        """Insert accounts. If the database refuses one of them, insert each half separately."""
        if not new:
            return
        if self.options.dry_run:
            self._count(new)
            self.report.new_ids += sum(checked.other_id is not None for checked in new)
            return
        try:
            with transaction(self.session, may_fail=True):
                ids = self._writer.write(new)
        except (IntegrityError, DataError, StatementError) as error:
            if len(new) == 1:
                self._refuse(new[0], error)
                return
            middle = len(new) // 2
            self._insert(new[:middle])
            self._insert(new[middle:])
            return
        self._count(new)
        for checked, account_id in zip(new, ids, strict=True):
            if checked.other_id is not None:
                self.report.renumber(checked.line, checked.email, checked.other_id, account_id)

    def _update(self, checked: CheckedAccount, account_id: AccountKey) -> None:
        if not self.options.update:
            self.report.present += 1
            return
        try:
            with transaction(self.session, may_fail=True):
                is_changed = self._updates.apply(checked, account_id, dry_run=self.options.dry_run)
        except (IntegrityError, DataError, StatementError) as error:
            self._refuse(checked, error)
            return
        self.report.updated += is_changed
        self.report.present += not is_changed

    def _refuse(self, checked: CheckedAccount, error: StatementError) -> None:
        """Report the error of the driver without its parameters, which may be a password hash."""
        reason = str(error.orig).splitlines()[0]
        refusal = RowError("conflict", f"The database rejected the account: {reason}")
        self.report.refuse(checked.line, refusal, checked.email, checked.id)

    def _count(self, imported: list[CheckedAccount]) -> None:
        self.report.imported += len(imported)
        for checked in imported:
            self.report.roles[checked.values["role"]] += 1
            self.report.hashes[checked.hash_kind or "none"] += 1


def _refuse_repeated(seen: SeenKeys, row: ImportedAccount, checked: CheckedAccount) -> None:
    names = {"email": f"email {checked.email}"}
    if checked.id is not None:
        names["id"] = f"id {checked.id}"
    for what, name in names.items():
        first = seen.first_line(name, row.line)
        if first != row.line:
            raise RowError(f"repeated_{what}", f"Line {first} of the file has the same {what}.")


class SeenKeys:
    """The emails and ids of earlier rows, on disk: there may be millions."""

    def __init__(self) -> None:
        # Without a name SQLite uses a temporary file, which is deleted with the connection.
        self._connection = sqlite3.connect("")
        self._connection.execute("CREATE TABLE seen (name TEXT PRIMARY KEY, line INTEGER)")

    def __enter__(self) -> SeenKeys:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._connection.close()

    def first_line(self, name: str, line: int) -> int:
        """Return the line that had the name first, which is this line for a new name."""
        add = "INSERT INTO seen VALUES (?, ?) ON CONFLICT (name) DO NOTHING"
        if self._connection.execute(add, (name, line)).rowcount:
            return line
        find = "SELECT line FROM seen WHERE name = ?"
        return int(self._connection.execute(find, (name,)).fetchone()[0])
