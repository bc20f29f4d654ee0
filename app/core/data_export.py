"""How a package takes part in the data export of an account.

A package contributes a `DataExporter`. The export worker calls each with the account and an
`ExportReader`, and writes the files that it yields.
"""

from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Engine, Select, func, select, tuple_

from .types import AccountKey, Values

PAGE = 1_000
# How many rows one statement reads of a table without an index for the account.
RANGE_SIZE = 50_000

# Called before each statement; raises to abort the export.
CheckActive = Callable[[], None]
# Selects columns of any type.
ExportQuery = Select[*tuple[object, ...]]


class DataSubject(NamedTuple):
    id: AccountKey
    # None while the account has not verified it: the address may be another person's.
    email: str | None
    # The id as deliveries store it.
    receiver_id: AccountKey


@dataclass(frozen=True)
class ExportReader:
    """Reads rows in pages: no transaction stays open, and at most one page is in memory."""

    engine: Engine
    tables: Set[str]
    check_active: CheckActive

    def has(self, *models: Any) -> bool:
        """Return whether the tables exist: an application has only those of its features."""
        return self.tables >= {model.__tablename__ for model in models}

    def rows(self, statement: ExportQuery, *by: str) -> Iterator[Values]:
        """Yield the rows in the order of these columns; the last column must be the `id`."""
        names = by or ("id",)
        keys = [statement.selected_columns[name] for name in names]
        ordered = statement.order_by(*keys).limit(PAGE)
        page = ordered
        while rows := self._fetch(page):
            yield from rows
            if len(rows) < PAGE:
                return
            page = ordered.where(tuple_(*keys) > tuple(rows[-1][name] for name in names))

    def rows_in_ranges(self, statement: ExportQuery, key: Any) -> Iterator[Values]:
        """Yield rows of a table without an index for the condition: each statement stays short."""
        [bounds] = self._fetch(select(func.min(key).label("first"), func.max(key).label("last")))
        if bounds["first"] is None:
            return
        for first in range(bounds["first"], bounds["last"] + 1, RANGE_SIZE):
            yield from self.rows(statement.where(key >= first, key < first + RANGE_SIZE))

    def _fetch(self, statement: ExportQuery) -> list[Values]:
        self.check_active()
        with self.engine.connect() as connection:
            return [dict(row) for row in connection.execute(statement).mappings()]


class DataExporter(NamedTuple):
    # Yields names and contents of files: bytes, a value for JSON, or rows for a `.jsonl` file.
    export: Callable[[DataSubject, ExportReader], Iterator[tuple[str, object]]]
