"""The indexes for the search of accounts, which depend on what the database has.

Sorted values find the start of a text, and PostgreSQL's extension pg_trgm a part of it. Alembic
does not compare these indexes, see migrations.py.
"""

import logging
from collections.abc import Iterator
from typing import Any, NamedTuple

from sqlalchemy import Column, ColumnElement, Connection, MetaData, inspect, select, text, true
from sqlalchemy.exc import DBAPIError

from ..types import AccountModel
from .base import SEARCHED_NAME
from .transaction import AnySession

log = logging.getLogger(__name__)

_ACCOUNT_INDEXES = ("email", "phone", "domain")

_HAS_TRIGRAM_INDEX = text(
    "SELECT 1 FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid"
    " WHERE indrelid = to_regclass(:table) AND indisvalid AND relname = CAST(:name AS name)"
    " AND pg_get_indexdef(indexrelid, 1, true) = quote_ident(:column)"
    " AND pg_get_indexdef(indexrelid) LIKE '%gin_trgm_ops%'"
)
_SCHEMA_OF_TRIGRAMS = text(
    "SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace"
    " ON pg_namespace.oid = extnamespace WHERE extname = 'pg_trgm'"
    " AND has_schema_privilege(pg_namespace.oid, 'USAGE')"
)
_IS_AVAILABLE = text("SELECT 1 FROM pg_available_extensions WHERE name = 'pg_trgm'")
# An interrupted CREATE INDEX CONCURRENTLY leaves an invalid index.
_IS_INVALID = text(
    "SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(:index) AND NOT indisvalid"
)


class SearchedNames(NamedTuple):
    """Columns with the names of accounts, in a table with one row for each account."""

    account_id: Any
    columns: tuple[Any, ...]
    # Which rows are searched.
    condition: ColumnElement[bool] = true()


class _SearchIndex(NamedTuple):
    # As SQL, with the schema if there is one.
    table: str
    name: str
    # The method and the columns as SQL.
    definition: str

    @property
    def qualified(self) -> str:
        schema, dot, _ = self.table.rpartition(".")
        return f'{schema}{dot}"{_name(self.table, self.name)}"'


def has_trigram_index(session: AnySession, model: AccountModel) -> bool:
    """Return whether our trigram index on email addresses serves searches in the accounts."""
    dialect, column = session.get_bind().dialect, _column(model, "email")
    if dialect.name != "postgresql" or column is None:
        return False
    table = dialect.identifier_preparer.format_table(model.__table__)
    index = {"table": table, "name": _name(table, "email"), "column": column}
    return session.scalar(_HAS_TRIGRAM_INDEX, index) is not None


def search_index_names(metadata: MetaData, accounts: str) -> set[str]:
    """Return the names of all indexes that the search can have, with this table of accounts."""
    of_names = {
        _name(table, index)
        for table, columns in _columns_with_names(metadata)
        for index in ("names", *(f"lower_{column}" for column in columns))
    }
    return of_names | {_name(accounts, name) for name in _ACCOUNT_INDEXES}


def create_search_indexes(
    connection: Connection, metadata: MetaData, model: AccountModel | None
) -> bool:
    """Create the missing indexes on names, and on an account model's table. PostgreSQL must be
    in autocommit. Return whether the indexes find parts of a text: not if the extension pg_trgm is
    missing and cannot be created.
    """
    is_postgresql = connection.dialect.name == "postgresql"
    concurrently = "CONCURRENTLY " if is_postgresql else ""
    schema = _trigram_schema(connection) if is_postgresql else None
    run = connection.exec_driver_sql
    for index in _indexes(connection, metadata, model, schema):
        lacks_trigrams = "gin" in index.definition and schema is None
        is_invalid = {"index": index.qualified}
        if lacks_trigrams or (is_postgresql and connection.scalar(_IS_INVALID, is_invalid)):
            run(f"DROP INDEX {concurrently}IF EXISTS {index.qualified}")
        if not lacks_trigrams:
            name = f'{concurrently}IF NOT EXISTS "{_name(index.table, index.name)}"'
            run(f"CREATE INDEX {name} ON {index.table} {index.definition}")
    return schema is not None


def drop_search_indexes(
    connection: Connection, metadata: MetaData, model: AccountModel | None
) -> None:
    for index in _indexes(connection, metadata, model, ""):
        # The migration of a downgrade is a transaction, which cannot drop an index concurrently.
        connection.exec_driver_sql(f"DROP INDEX IF EXISTS {index.qualified}")


def _trigram_schema(connection: Connection) -> str | None:
    """Return the schema of the extension if the database's user may use it.

    The extension is created if the user may.
    """
    schema: str | None = connection.scalar(_SCHEMA_OF_TRIGRAMS)
    if schema is None and connection.scalar(_IS_AVAILABLE):
        try:
            connection.execute(text("CREATE EXTENSION IF NOT EXISTS pg_trgm"))
        except DBAPIError as error:
            if error.connection_invalidated:
                raise
            log.warning("The extension pg_trgm was not created: %s", error.orig)
        schema = connection.scalar(_SCHEMA_OF_TRIGRAMS)
    return schema


def _columns_with_names(metadata: MetaData) -> Iterator[tuple[str, list[str]]]:
    """Yield the tables that have names of accounts, with these columns."""
    for table in metadata.tables.values():
        columns = [each.name for each in table.columns if SEARCHED_NAME in each.info]
        if columns:
            yield table.name, columns


def _indexes(
    connection: Connection, metadata: MetaData, model: AccountModel | None, schema: str | None
) -> Iterator[_SearchIndex]:
    """Yield the indexes. The expressions of names and domains are those of a search."""
    quote = connection.dialect.identifier_preparer.quote
    is_postgresql = connection.dialect.name == "postgresql"
    bytewise = ' COLLATE "C"' if is_postgresql else ""
    trigrams = f"{schema}.gin_trgm_ops"
    for table, columns in _columns_with_names(metadata):
        if inspect(connection).has_table(table):
            all_names = ", ".join(f"{name} {trigrams}" for name in columns)
            yield _SearchIndex(table, "names", f"USING gin ({all_names})")
            for name in columns:
                yield _SearchIndex(table, f"lower_{name}", f"(lower({name}){bytewise})")
    if model is None:
        return
    table = connection.dialect.identifier_preparer.format_table(model.__table__)
    for name in ("email", "phone"):
        if (column := _column(model, name)) is not None:
            yield _SearchIndex(table, name, f"USING gin ({quote(column)} {trigrams})")
    if (column := _column(model, "email")) is not None:
        domain = "split_part({0}, '@', 2)" if is_postgresql else "substr({0}, instr({0}, '@') + 1)"
        yield _SearchIndex(table, "domain", f"({domain.format(quote(column))}{bytewise})")


def _name(table: str, name: str) -> str:
    own = table.rpartition(".")[2].strip('"')
    return f"ix_{own}_{name}_search"


def _column(model: AccountModel, name: str) -> str | None:
    """Return the name of the column, or None if the attribute is another expression."""
    [column] = select(getattr(model, name)).selected_columns
    return column.name if isinstance(column, Column) else None
