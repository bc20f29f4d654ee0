"""Sort orders of the list of accounts, and the cursor of a page."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

import orjson
from sqlalchemy import ColumnElement, collate, literal, select, tuple_

from ..accounts.rows import to_read
from ..core.db.account_ids import IdKind
from ..core.db.base import timestamp_literal
from ..core.errors import Invalid
from ..core.types import AccountModel, Values
from ..core.web.fields import is_storable

ID, EMAIL = "id", "email"


class Part(NamedTuple):
    """One page: the rows after a cursor, in an order with an index."""

    conditions: Sequence[ColumnElement[bool]]
    by: Sequence[ColumnElement[Any]]


class Place(NamedTuple):
    """The row that a page ended with: its value in the order, and its id."""

    value: Any
    id: Any


@dataclass(frozen=True, eq=False)
class Ordering:
    """By one column, and by the id where several rows may have the same value. Rows without a value
    come before all others, and behind them the other way round."""

    # As the client names it, with a `-` where it falls.
    sort: str
    column: Any
    id: Any
    ids: IdKind
    may_be_null: bool

    @property
    def name(self) -> str:
        return self.sort.removeprefix("-")

    @property
    def falls(self) -> bool:
        return self.sort.startswith("-")

    def parts(self, place: Place | None, offset: int) -> Iterator[Part]:
        """One after the other, until the page is full. Rows with a value and those without are
        asked for apart, since databases differ in which of them an index has first."""
        if not self.may_be_null:
            yield Part(() if place is None else (self._beyond(place),), self._by_value())
        elif offset:
            yield Part((), self._by_null_and_value())
        else:
            ways = [self._without_value(place), self._with_value(place)]
            for part in reversed(ways) if self.falls else ways:
                if part is not None:
                    yield part

    def _without_value(self, place: Place | None) -> Part | None:
        # Also by what none of them has: else some databases take another index.
        by = self._by_value()
        if place is None or (place.value is not None and self.falls):
            return Part((self.column.is_(None),), by)
        if place.value is not None:
            return None
        beyond = self._after(self.id, literal(place.id, self.id.type))
        return Part((self.column.is_(None), beyond), by)

    def _with_value(self, place: Place | None) -> Part | None:
        if place is not None and place.value is not None:
            return Part((self._beyond(place),), self._by_value())
        if place is not None and self.falls:
            return None
        return Part((self.column.is_not(None),), self._by_value())

    def place_of(self, row: Values) -> str:
        place = [self.sort, row[self.name], row[ID]]
        return base64.urlsafe_b64encode(orjson.dumps(place)).decode().rstrip("=")

    def read_place(self, text: str) -> Place:
        """Whatever a client sends."""
        try:
            padded = text.encode("ascii") + b"=" * (-len(text) % 4)
            sort, value, account_id = orjson.loads(base64.urlsafe_b64decode(padded))
            if sort != self.sort:
                raise ValueError("a place in another order")
            return Place(self._read_value(value), self.ids.from_path(str(account_id)))
        except (ValueError, TypeError, OverflowError):
            raise Invalid.about("after", "Not a place in this list.") from None

    def _read_value(self, value: Any) -> Any:
        if self.name == ID or (value is None and self.may_be_null):
            return None
        if self.name != EMAIL:
            return datetime.fromisoformat(value).astimezone(UTC)
        if not (isinstance(value, str) and is_storable(value)):
            raise ValueError("no address")
        return value

    def _by_value(self) -> Sequence[Any]:
        turned = self._turned(self.column)
        return (turned,) if self.name in (ID, EMAIL) else (turned, self._turned(self.id))

    def _by_null_and_value(self) -> Sequence[Any]:
        turned = self._turned(self.column)
        turned = turned.nulls_last() if self.falls else turned.nulls_first()
        return (turned, self._turned(self.id))

    def _beyond(self, place: Place) -> ColumnElement[bool]:
        account_id = literal(place.id, self.id.type)
        if self.name == ID:
            return self._after(self.id, account_id)
        value = (
            timestamp_literal(self.column, place.value)
            if self.name != EMAIL
            else literal(place.value)
        )
        if self.name == EMAIL:
            return self._after(self.column, value)
        return self._after(tuple_(self.column, self.id), tuple_(value, account_id))

    def _after(self, columns: Any, values: Any) -> ColumnElement[bool]:
        after: ColumnElement[bool] = columns < values if self.falls else columns > values
        return after

    def _turned(self, column: Any) -> Any:
        return column.desc() if self.falls else column.asc()


def ordering(model: AccountModel, sort: str, ids: IdKind, dialect: str) -> Ordering:
    name = sort.removeprefix("-")
    column = getattr(model, name, None)
    if column is None:
        raise Invalid.about("sort", f"The accounts of this application have no {name}.")
    may_be_null = False
    if name == EMAIL:
        column = bytewise(column, dialect)
    elif name != ID:
        [asked] = select(column).selected_columns
        may_be_null = getattr(asked, "nullable", True)
        column = to_read(model, name)
    return Ordering(sort, column, model.id, ids, may_be_null)


def bytewise(column: Any, dialect: str) -> Any:
    """In the order of its bytes, in which all that begins alike stands together; PostgreSQL's own
    is that of a language."""
    return collate(column, "C") if dialect == "postgresql" else column
