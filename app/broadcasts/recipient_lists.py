"""Checks a pasted or uploaded list of recipients: an email address or account ID on each line."""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Row, select

from ..accounts.addresses import fold, read_email
from ..accounts.errors import InvalidEmail
from ..accounts.service import Accounts
from ..core.db.account_ids import IdKind
from ..core.types import AccountKey

MAX_LINES = 10_000
# Has that many UUIDs, such as the duplicate of a broadcast to a list of email addresses.
MAX_BYTES = 400 * 1024
# The maximum number of refused lines with a reason.
MAX_REFUSED = 200

# Why a line is refused.
NOT_AN_ADDRESS, NO_ACCOUNT, INACTIVE = "not an address", "no account", "inactive"

_BATCH = 1_000
# The titles of a column with recipients, the preferred ones first.
_TITLES = ("email", "e-mail", "email address", "mail", "id", "account_id", "account id")


class ListTooLong(Exception):
    """The list has more lines or bytes than the maximum."""


class RefusedLine(NamedTuple):
    number: int
    text: str
    reason: str
    # The status of an inactive account.
    status: str = ""


@dataclass(frozen=True)
class CheckedList:
    # The active accounts, each once.
    ids: Sequence[AccountKey]
    refused: Sequence[RefusedLine]
    # The number of all refused lines, also of those without a reason.
    refused_count: int
    duplicates: int


class _Line(NamedTuple):
    number: int
    text: str


@dataclass(frozen=True)
class RecipientLists:
    accounts: Accounts
    ids: IdKind

    def check_recipients(self, text: str) -> CheckedList:
        """Return the accounts of the list's lines; raise ListTooLong."""
        lines = [*_lines(text)]
        found = self._find(lines)
        accepted: dict[AccountKey, None] = {}
        refused: list[tuple[_Line, Row[Any] | None]] = []
        duplicates = 0
        for line in lines:
            row = found.get(self._key(line.text))
            if row is None or not row.is_active:
                refused.append((line, row))
            elif row.id in accepted:
                duplicates += 1
            else:
                accepted[row.id] = None
        shown = [self._refuse(*each) for each in refused[:MAX_REFUSED]]
        return CheckedList([*accepted], shown, len(refused), duplicates)

    def existing(self, ids: Iterable[AccountKey]) -> list[AccountKey]:
        """Return the ids that still have an account."""
        return [row.id for row in self._rows(self.accounts.model.id, ids)]

    def _find(self, lines: Iterable[_Line]) -> dict[object, Row[Any]]:
        """Return the accounts by what their lines name them by."""
        keys = {key for line in lines if (key := self._key(line.text)) is not None}
        emails = [key for kind, key in keys if kind == "email"]
        ids = [key for kind, key in keys if kind == "id"]
        model = self.accounts.model
        found = {("email", fold(row.email)): row for row in self._rows(model.email, emails)}
        return found | {("id", row.id): row for row in self._rows(model.id, ids)}

    def _rows(self, column: Any, values: Iterable[object]) -> Iterator[Row[Any]]:
        model = self.accounts.model
        is_active = self.accounts.is_active_row().label("is_active")
        query = select(model.id, model.email, model.status, is_active)
        wanted = [*values]
        for first in range(0, len(wanted), _BATCH):
            batch = wanted[first : first + _BATCH]
            yield from self.accounts.session.execute(query.where(column.in_(batch)))

    def _key(self, text: str) -> tuple[str, AccountKey] | None:
        if "@" in text:
            return "email", fold(text)
        if not re.fullmatch(self.ids.pattern, text, re.ASCII):
            return None
        try:
            return "id", self.ids.from_path(text)
        except ValueError:
            return None

    def _refuse(self, line: _Line, row: Row[Any] | None) -> RefusedLine:
        if row is not None:
            return RefusedLine(*line, INACTIVE, row.status)
        kind, _ = self._key(line.text) or ("", None)
        is_known = kind == "id" or (kind == "email" and _is_address(line.text))
        return RefusedLine(*line, NO_ACCOUNT if is_known else NOT_AN_ADDRESS)


def recipients_of(text: str) -> Iterator[str]:
    """Yield the lines of a list; of a table, only its column with recipients, without the title.
    Raise ListTooLong."""
    return (line.text for line in _lines(text))


def _is_address(text: str) -> bool:
    try:
        read_email(text)
    except InvalidEmail:
        return False
    return True


def _lines(text: str) -> Iterator[_Line]:
    """Yield the lines with a text; of a table, the texts of its column with recipients."""
    if len(text.encode()) > MAX_BYTES:
        raise ListTooLong
    lines = [
        # Not at the start: a tab there ends an empty first cell.
        _Line(number, line.rstrip())
        for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1)
        if line.strip()
    ]
    if len(lines) > MAX_LINES:
        raise ListTooLong
    titles = [cell.lower() for cell in _cells(lines[0].text)] if lines else []
    column = next((titles.index(title) for title in _TITLES if title in titles), None)
    for line in lines if column is None else lines[1:]:
        if column is not None:
            cells = _cells(line.text)
            chosen = cells[column] if column < len(cells) else ""
        else:
            cells = _cells(line.text.strip())
            chosen = next((cell for cell in cells if "@" in cell), cells[0])
        yield _Line(line.number, chosen or line.text.strip())


def _cells(line: str) -> list[str]:
    """Return the cells of a line. A quotation mark never reaches into the next line."""
    delimiter = next((each for each in ";\t" if each in line), ",")
    try:
        rows = [*csv.reader([line], delimiter=delimiter)]
    except csv.Error:
        rows = []
    return [cell.strip() for cell in rows[0]] if rows and rows[0] else [line]
