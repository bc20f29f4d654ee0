"""Imports accounts into the database in batches, each in a separate transaction.

An account that is there already is passed over, so that an import that was killed is gone on with
by running it again. What is wrong with a row refuses that row, and the report says why."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from types import TracebackType

from sqlalchemy.exc import DataError, IntegrityError, StatementError

from ..accounts.actions import ACCOUNTS_IMPORTED
from ..accounts.service import Accounts
from ..core.context import report_action
from ..core.db.transaction import extended_timeout, release, transaction
from ..core.types import AccountKey
from .account import ImportedAccount, Row, RowFault, UnreadableRow
from .checking import CheckedAccount, Checks
from .existing import ExistingAccounts
from .report import Report
from .updating import Updates
from .writing import AccountWriter

BATCH = 2_000


@dataclass(frozen=True)
class ImportOptions:
    """The options of an import."""

    update: bool = False
    dry_run: bool = False
    emit: bool = False
    trusts_addresses: bool = False


class Importer:
    def __init__(self, accounts: Accounts, report: Report, choices: ImportOptions) -> None:
        self.session = accounts.session
        self.report = report
        self.choices = choices
        self._checks = Checks(
            accounts.model, accounts.clock, trusts_addresses=choices.trusts_addresses
        )
        self._present = ExistingAccounts(accounts)
        self._writer = AccountWriter(accounts, emits=choices.emit)
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
                self.report.refuse(row.line, row.fault)
                continue
            try:
                checked = self._checks.check(row)
                _refuse_repeated(seen, row, checked)
            except RowFault as fault:
                self.report.refuse(row.line, fault, row.email, row.id)
                continue
            yield checked

    def _import(self, batch: list[CheckedAccount]) -> None:
        imported, updated = self.report.imported, self.report.updated
        with transaction(self.session), extended_timeout(self.session):
            there = self._present.among(batch)
            new = []
            for checked in batch:
                try:
                    account_id = there.account_of(checked)
                    there.check(checked, account_id)
                except RowFault as fault:
                    self.report.refuse(checked.line, fault, checked.email, checked.id)
                    continue
                if account_id is None:
                    new.append(checked)
                else:
                    self._meet_again(checked, account_id)
            self._insert(new)
            if not self.choices.dry_run:
                self._writer.number_on(new)
                self._record(self.report.imported - imported, self.report.updated - updated)
        # What the batch has loaded and made is forgotten.
        release(self.session)

    def _record(self, created: int, updated: int) -> None:
        if created or updated:
            report_action(self.session, ACCOUNTS_IMPORTED, created=created, updated=updated)

    def _insert(self, new: list[CheckedAccount]) -> None:
        """Where the database refuses one of many, it is looked for by halves."""
        if not new:
            return
        if self.choices.dry_run:
            self._count(new)
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

    def _meet_again(self, checked: CheckedAccount, account_id: AccountKey) -> None:
        if not self.choices.update:
            self.report.present += 1
            return
        try:
            with transaction(self.session, may_fail=True):
                is_changed = self._updates.apply(checked, account_id, dry_run=self.choices.dry_run)
        except (IntegrityError, DataError, StatementError) as error:
            self._refuse(checked, error)
            return
        self.report.updated += is_changed
        self.report.present += not is_changed

    def _refuse(self, checked: CheckedAccount, error: StatementError) -> None:
        """What it says of its parameters may be a hash."""
        reason = str(error.orig).splitlines()[0]
        fault = RowFault("conflict", f"The database refuses it: {reason}")
        self.report.refuse(checked.line, fault, checked.email, checked.id)

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
            raise RowFault(f"repeated_{what}", f"Line {first} of the file has the same {what}.")


class SeenKeys:
    """The addresses and ids that a file had before: on disk, since there may be millions."""

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
        """Where it was first; this very line, where it is new."""
        add = "INSERT INTO seen VALUES (?, ?) ON CONFLICT (name) DO NOTHING"
        if self._connection.execute(add, (name, line)).rowcount:
            return line
        find = "SELECT line FROM seen WHERE name = ?"
        return int(self._connection.execute(find, (name,)).fetchone()[0])
