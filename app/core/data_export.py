"""How a package takes part in the data export of an account.

A package appends an exporter to `Context.contributions.exporters`. The export worker calls each
exporter with the account and a `Reading`, and writes the files that the exporter yields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Engine, func, select, tuple_

from .types import AccountKey, Values

PAGE = 1_000
# Rows of all recipients that one statement searches for those of one recipient.
STRETCH = 50_000

# Called before each statement; raises to end the export.
Pulse = Callable[[], None]


class DataSubject(NamedTuple):
    """The account of a data export."""

    id: Any
    # None while the account has not verified it: the address may be another person's.
    email: str | None
    # The id as deliveries store it.
    receiver_id: AccountKey


@dataclass(frozen=True)
class Reading:
    """Reads page by page: no transaction stays open, and at most one page is in memory."""

    engine: Engine
    tables: Set[str]
    pulse: Pulse

    def has(self, *models: Any) -> bool:
        """Return whether the tables exist: an application has those of what it mounts."""
        return self.tables >= {model.__tablename__ for model in models}

    def rows(self, statement: Any, *by: str) -> Iterator[Values]:
        """Yield the rows in the order of these columns, the last of which is the `id`."""
        names = by or ("id",)
        keys = [statement.selected_columns[name] for name in names]
        in_order = statement.order_by(*keys).limit(PAGE)
        page = in_order
        while rows := self._ask(page):
            yield from rows
            if len(rows) < PAGE:
                return
            page = in_order.where(tuple_(*keys) > tuple(rows[-1][name] for name in names))

    def stretches(self, statement: Any, key: Any) -> Iterator[Values]:
        """Yield the rows of a table that has no index for them: each statement stays short."""
        [bounds] = self._ask(select(func.min(key).label("first"), func.max(key).label("last")))
        if bounds["first"] is None:
            return
        for first in range(bounds["first"], bounds["last"] + 1, STRETCH):
            yield from self.rows(statement.where(key >= first, key < first + STRETCH))

    def _ask(self, statement: Any) -> list[Values]:
        self.pulse()
        with self.engine.connect() as connection:
            return [dict(row) for row in connection.execute(statement).mappings()]


# Yields files: bytes, a JSON document, or for a name that ends in `.jsonl` rows as JSON lines.
Exporter = Callable[[DataSubject, Reading], Iterator[tuple[str, Any]]]
