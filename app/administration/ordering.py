"""Sort orders of the list of accounts, and the cursor of a page."""

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple, Self

import orjson
from sqlalchemy import ColumnElement, literal, select, tuple_

from ..accounts.rows import to_read
from ..accounts.search import bytewise
from ..core.coded_messages import NOT_A_PLACE
from ..core.db.account_ids import IdKind
from ..core.db.base import timestamp_literal
from ..core.errors import Invalid
from ..core.types import AccountKey, AccountModel, Values
from ..core.web.fields import is_storable
from .rules import accounts_lack

ID, EMAIL = "id", "email"


class Part(NamedTuple):
    """A part of a page, read along one index."""

    conditions: Sequence[ColumnElement[bool]]
    order_by: Sequence[ColumnElement[Any]]


class Cursor(NamedTuple):
    """The last row of a page: its value in the sort column, and its id."""

    value: Any
    id: AccountKey


@dataclass(frozen=True, eq=False)
class Ordering:
    """Sorts by one column, and by id if the values are not unique. NULL comes first, or last in
    descending order."""

    # The client's name of the order, with a `-` if it is descending.
    sort: str
    column: Any
    id: Any
    ids: IdKind
    may_be_null: bool

    @property
    def name(self) -> str:
        return self.sort.removeprefix("-")

    @property
    def is_descending(self) -> bool:
        return self.sort.startswith("-")

    @property
    def reversed(self) -> Self:
        return replace(self, sort=self.name if self.is_descending else f"-{self.name}")

    def parts(self, cursor: Cursor | None, offset: int) -> Iterator[Part]:
        """Yield the parts of a page in order. Rows with and without a value are separate parts,
        since databases differ in where an index has NULL."""
        columns = [self.column] if self.name in (ID, EMAIL) else [self.column, self.id]
        order_by = [each.desc() if self.is_descending else each.asc() for each in columns]
        after = () if cursor is None else (self.after(cursor),)
        if not self.may_be_null:
            yield Part(after, order_by)
        elif offset:
            first, *others = order_by
            first = first.nulls_last() if self.is_descending else first.nulls_first()
            yield Part((), [first, *others])
        else:
            # First those without a value, or last. Sorted by the column too, since some databases
            # would use another index without it.
            kinds = [True, False] if self.is_descending else [False, True]
            for has_value in kinds if cursor is None else kinds[kinds.index(bool(cursor.value)) :]:
                has_kind = self.column.is_not(None) if has_value else self.column.is_(None)
                yield Part((has_kind, *after), order_by)
                after = ()

    def after(self, cursor: Cursor) -> ColumnElement[bool]:
        """Return the condition that a row of the same part is after this one."""
        columns: Any = self.id
        values: Any = literal(cursor.id, self.id.type)
        if self.name == EMAIL:
            columns, values = self.column, literal(cursor.value)
        elif cursor.value is not None:
            value = timestamp_literal(self.column, cursor.value)
            columns, values = tuple_(self.column, self.id), tuple_(value, values)
        found: ColumnElement[bool] = columns < values if self.is_descending else columns > values
        return found

    def create_cursor(self, row: Values) -> str:
        values = [self.sort, row[self.name], row[ID]]
        return base64.urlsafe_b64encode(orjson.dumps(values)).decode().rstrip("=")

    def parse_cursor(self, text: str, parameter: str) -> Cursor:
        """Parse a cursor of a client, from this parameter. Raises Invalid."""
        try:
            padded = text.encode("ascii") + b"=" * (-len(text) % 4)
            sort, value, account_id = orjson.loads(base64.urlsafe_b64decode(padded))
            if sort != self.sort:
                raise ValueError("The cursor belongs to another order.")
            return Cursor(self._read_value(value), self.ids.from_path(str(account_id)))
        except (ValueError, TypeError, OverflowError):
            raise Invalid.about(parameter, NOT_A_PLACE) from None

    def _read_value(self, value: Any) -> object:
        if self.name == ID or (value is None and self.may_be_null):
            return None
        if self.name != EMAIL:
            return datetime.fromisoformat(value).astimezone(UTC)
        if not (isinstance(value, str) and is_storable(value)):
            raise ValueError("The value is not an email address.")
        return value


def find_ordering(model: AccountModel, sort: str, ids: IdKind, dialect: str) -> Ordering:
    name = sort.removeprefix("-")
    column = getattr(model, name, None)
    if column is None:
        raise Invalid.about("sort", accounts_lack(name))
    may_be_null = False
    if name == EMAIL:
        column = bytewise(column, dialect)
    elif name != ID:
        [selected] = select(column).selected_columns
        may_be_null = getattr(selected, "nullable", True)
        column = to_read(model, name)
    return Ordering(sort, column, model.id, ids, may_be_null)
