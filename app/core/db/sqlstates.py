"""PostgreSQL's error codes that have a meaning for the service."""

import re
from typing import Any

# A write to a standby or in a read-only transaction.
READ_ONLY = "25006"
# A serialization failure and a deadlock.
_ABORTED = ("40001", "40P01")
# A prepared statement is missing, exists already, or has other parameters.
_PREPARED = ("26000", "42P05", "08P01")
# A table, a column, a type or a function is missing.
_OUTDATED = ("42P01", "42703", "42704", "42883")
_EMPTY = "23502"
_TAKEN = "23505"
_SQLITE_EMPTY = "NOT NULL constraint failed: "
_SQLITE_TAKEN = "UNIQUE constraint failed: "
# The driver's names of statements; a statement of another name is the application's own.
_DRIVER_NAME = '"_pg3_'


def sqlstate(error: BaseException) -> str | None:
    """Return the code of an error of the driver, or of SQLAlchemy's error around it."""
    found: str | None = getattr(getattr(error, "orig", error), "sqlstate", None)
    return found


def is_foreign_statement(error: BaseException) -> bool:
    """Return whether the connection lacks a statement that the driver has prepared on it, or has
    another client's statement of that name: a pooler has changed the session."""
    return sqlstate(error) in _PREPARED and _DRIVER_NAME in str(error)


def is_outdated_schema(error: BaseException) -> bool:
    """Return whether the database lacks something that the statement names."""
    return sqlstate(error) in _OUTDATED


def is_repeatable(error: BaseException) -> bool:
    """Return whether the transaction was rolled back and can succeed if it is repeated."""
    return sqlstate(error) in _ABORTED or is_foreign_statement(error)


def empty_column(error: Any) -> str:
    """Return `table.column` if a required column has no value, otherwise an empty string."""
    if sqlstate(error) == _EMPTY:
        return f"{error.orig.diag.table_name}.{error.orig.diag.column_name}"
    text = str(error.orig)
    return text.removeprefix(_SQLITE_EMPTY) if text.startswith(_SQLITE_EMPTY) else ""


def taken_columns(error: Any) -> list[str]:
    """Return each `table.column` of a violated unique constraint. Of an index with functions,
    SQLite names only the index, and PostgreSQL the functions like columns."""
    if sqlstate(error) == _TAKEN:
        key = (error.orig.diag.message_detail or "").partition("=(")[0].partition("(")[2]
        return [f"{error.orig.diag.table_name}.{name}" for name in re.findall(r"\w+", key)]
    return re.findall(r"[\w.]+", str(error.orig).partition(_SQLITE_TAKEN)[2])
