"""Ids in one parameter of a statement: no database accepts a hundred thousand parameters."""

from collections.abc import Collection, Sequence
from typing import Any

import orjson
from sqlalchemy import ColumnElement, any_, bindparam, column, func
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeEngine

from ..types import AccountKey


def id_list(ids: Sequence[AccountKey], kind: TypeEngine[Any], dialect: Dialect) -> Any:
    """Return the ids as a column to select from."""
    if dialect.name == "postgresql":
        return func.unnest(bindparam(None, [*ids], type_=ARRAY(kind))).column_valued("ids")
    # The stored form of an id can differ from its Python value.
    if (write := kind.dialect_impl(dialect).bind_processor(dialect)) is not None:
        ids = [write(each) for each in ids]
    value: Any = column("value", kind)
    text = orjson.dumps([*ids]).decode()
    return func.json_each(text).table_valued(value, name="ids").c.value


def is_one_of(
    key: ColumnElement[Any], ids: Collection[AccountKey], dialect: Dialect
) -> ColumnElement[bool]:
    """Return the condition that a key is one of the ids."""
    if dialect.name == "postgresql":
        # One array parameter: batches of every size use the same statement.
        return key == any_(bindparam(None, [*ids], type_=ARRAY(key.type)))
    return key.in_(ids)
