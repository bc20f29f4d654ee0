"""Short questions in the order of the rows: no transaction is held open for them, and no more than
a page of rows is in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, func, select, tuple_

PAGE = 1_000
# So many rows of all receivers are looked through at once for those of one.
STRETCH = 50_000

# Called before each question; may end it all by raising.
Pulse = Callable[[], None]


@dataclass(frozen=True)
class Reading:
    engine: Engine
    pulse: Pulse

    def rows(self, statement: Any, *by: str) -> Iterator[Mapping[str, Any]]:
        """Page by page in the order of these columns, the last of which is the `id`."""
        names = by or ("id",)
        keys = [statement.selected_columns[name] for name in names]
        in_order = statement.order_by(*keys).limit(PAGE)
        page = in_order
        while rows := self._ask(page):
            yield from rows
            if len(rows) < PAGE:
                return
            page = in_order.where(tuple_(*keys) > tuple(rows[-1][name] for name in names))

    def stretches(self, statement: Any, key: Any) -> Iterator[Mapping[str, Any]]:
        """The same of a table that has no index for it: no single question may take long."""
        [bounds] = self._ask(select(func.min(key).label("first"), func.max(key).label("last")))
        if bounds["first"] is None:
            return
        for first in range(bounds["first"], bounds["last"] + 1, STRETCH):
            yield from self.rows(statement.where(key >= first, key < first + STRETCH))

    def _ask(self, statement: Any) -> list[Mapping[str, Any]]:
        self.pulse()
        with self.engine.connect() as connection:
            return [dict(row) for row in connection.execute(statement).mappings()]
