from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Connection, insert
from sqlalchemy.engine import Dialect

from ..db import rows as plain
from ..db.transaction import AnySession
from .models import Record

# By the names of its columns.
Row = Mapping[str, Any]

_JSON = "data"
_NAMED = re.compile(r"%\((\w+)\)s")
_COLUMNS = [column.name for column in Record.__table__.columns if column.name != "id"]


class _Insert(NamedTuple):
    sql: str
    # The order of the values.
    positions: Sequence[str]
    # What a value becomes on its way to the driver, where it is not that already.
    writers: Sequence[tuple[str, Callable[[Any], Any]]]


class RecordWriter:
    """Rows into the table: compiled once, since each sign-in writes one."""

    def __init__(self) -> None:
        self._compiled: dict[str, _Insert] = {}

    def __call__(self, session: AnySession, rows: Sequence[Row]) -> None:
        self.on(session.connection(), rows)

    def on(self, connection: Connection, rows: Sequence[Row]) -> None:
        dialect = connection.dialect
        compiled = self._compiled.get(dialect.name) or self._compile(dialect)
        # SQLAlchemy's own way costs thrice what the driver does.
        plain.put(connection, compiled.sql, [_values(row, compiled) for row in rows])

    def _compile(self, dialect: Dialect) -> _Insert:
        compiled = insert(Record).inline().compile(dialect=dialect, column_keys=_COLUMNS)
        writers = [
            (name, writer)
            for name, parameter in compiled.binds.items()
            if name != _JSON
            and (writer := parameter.type.dialect_impl(dialect).bind_processor(dialect))
        ]
        sql, positions = str(compiled), getattr(compiled, "positiontup", None)
        if positions is None:
            # By position, which costs psycopg less than by name.
            positions, sql = _NAMED.findall(sql), _NAMED.sub("%s", sql)
        made = _Insert(sql, positions, writers)
        self._compiled[dialect.name] = made
        return made


def _values(row: Row, compiled: _Insert) -> Any:
    # Ids of any kind and moments as they are answered.
    data = orjson.dumps(row[_JSON], default=str, option=orjson.OPT_NON_STR_KEYS).decode()
    values = {**row, _JSON: data}
    for name, writer in compiled.writers:
        values[name] = writer(values[name])
    return tuple([values[name] for name in compiled.positions])
