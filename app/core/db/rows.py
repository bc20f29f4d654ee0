"""Fast queries for the few statements that nearly every request runs.

`session.execute` takes several times as long as the driver for a small query. `Rows` compiles its
statement once and passes it to the driver on a connection of the same pool, with the same types and
errors. If the session has an open transaction, or is bound to a connection (as in tests), the query
runs through the session and sees its writes.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Engine, Select
from sqlalchemy.engine import Dialect
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import scoped_session

from ..types import Values
from .session import FollowingSession
from .transaction import AnySession

Row = Sequence[Any]
Readers = Sequence[tuple[int, Callable[[object], object]]]


class _Compiled(NamedTuple):
    sql: str
    # The order of the parameters, for a driver that takes them by position.
    positions: Sequence[str] | None
    # Converters of column values, for the columns that need one.
    readers: Readers
    # Converters of parameters.
    writers: Sequence[tuple[str, Callable[[object], object]]]
    # Literal values of the statement, such as those of a `case`.
    fixed: Values


class Rows:
    def __init__(self, statement: Select[Any]) -> None:
        self.statement = statement
        self._compiled: dict[str, _Compiled] = {}

    def read(self, session: AnySession, **parameters: object) -> Sequence[Row]:
        bind = _idle_engine(session)
        if bind is None:
            return session.execute(self.statement, parameters).all()
        return self.read_from(bind, **parameters)

    def read_from(self, bind: Engine, **parameters: object) -> Sequence[Row]:
        """Read outside the session, on a separate connection."""
        compiled = self._compiled.get(bind.dialect.name) or self._compile(bind.dialect)
        if compiled.fixed:
            parameters = {**compiled.fixed, **parameters}
        values: Any = parameters
        for name, writer in compiled.writers:
            parameters[name] = writer(parameters[name])
        if compiled.positions is not None:
            values = [parameters[name] for name in compiled.positions]
        rows = ask(bind, compiled.sql, values)
        return _read(rows, compiled.readers) if compiled.readers else rows

    def _compile(self, dialect: Dialect) -> _Compiled:
        compiled = self.statement.compile(dialect=dialect)
        readers = [
            (index, reader)
            for index, column in enumerate(self.statement.selected_columns)
            if (reader := column.type.dialect_impl(dialect).result_processor(dialect, None))
        ]
        positions = getattr(compiled, "positiontup", None)
        names = compiled.bind_names
        # A parameter that a statement has several times is converted once.
        writers = {
            name: writer
            for parameter, name in names.items()
            if (writer := parameter.type.dialect_impl(dialect).bind_processor(dialect))
        }
        values = compiled.params
        fixed = {name: values[name] for bind, name in names.items() if not bind.required}
        result = _Compiled(str(compiled), positions, readers, [*writers.items()], fixed)
        self._compiled[dialect.name] = result
        return result


def _idle_engine(session: AnySession) -> Engine | None:
    """Return the engine if the session has no transaction; do not create a session for that."""
    if isinstance(session, FollowingSession) and not session.registry.has():
        bind = session.engines.get(session.engine_name)
    else:
        current = session() if isinstance(session, scoped_session) else session
        bind = None if current.in_transaction() else current.get_bind()
    return bind if isinstance(bind, Engine) else None


def ask(engine: Engine, sql: str, values: Any) -> list[Row]:
    driver = engine.dialect.loaded_dbapi
    try:
        connection = engine.raw_connection()
    except driver.Error as error:
        # Only `engine.connect()` converts a driver's error to SQLAlchemy's.
        raise DBAPIError.instance(sql, None, error, driver.Error, dialect=engine.dialect) from error
    try:
        cursor = connection.cursor()
        cursor.execute(sql, values)
        rows = list(cursor.fetchall())
        cursor.close()
        return rows
    except driver.Error as error:
        lost = engine.dialect.is_disconnect(error, connection, None)
        if lost:
            connection.invalidate(error)
            # After one lost connection, the idle connections are lost as well.
            engine.dispose()
        raise DBAPIError.instance(
            sql, None, error, driver.Error, connection_invalidated=lost, dialect=engine.dialect
        ) from error
    finally:
        connection.close()


def _read(rows: list[Row], readers: Readers) -> list[Row]:
    read: list[Any] = list(map(list, rows))
    # Column by column, which takes less time than all readers for each row.
    for index, reader in readers:
        for values in read:
            values[index] = reader(values[index])
    return read
