"""What became of an import: numbers for the end of it, and a file with a line for each oddity."""

from __future__ import annotations

import csv
from collections import Counter
from typing import TextIO

from ..core.types import JsonObject
from .account import RowFault

COLUMNS = ("line", "email", "id", "outcome", "code", "reason")


class Report:
    """Refused rows, and accounts that have another id here than there. It never shows a hash."""

    def __init__(self, file: TextIO) -> None:
        self.read = self.imported = self.updated = self.present = self.new_ids = 0
        self.refused: Counter[str] = Counter()
        self.roles: Counter[str] = Counter()
        self.hashes: Counter[str] = Counter()
        self._lines = csv.writer(file)
        self._lines.writerow(COLUMNS)

    def refuse(self, line: int, fault: RowFault, email: str = "", key: object = None) -> None:
        self.refused[fault.code] += 1
        self._write(line, email, key, "refused", fault.code, fault.reason)

    def renumber(self, line: int, email: str, before: object, after: object) -> None:
        self.new_ids += 1
        self._write(line, email, after, "imported", "new_id", f"It was {before}.")

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
