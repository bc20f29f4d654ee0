"""The names of partitions, and of the tables that exist while a table is partitioned."""

from __future__ import annotations

from hashlib import sha256
from typing import Any, NamedTuple

from sqlalchemy import Connection, CursorResult

INBOX, EVENTS = "frontdesk_inbox", "frontdesk_events"

# The comment on what exists only while a table is partitioned. Other tables are never dropped.
MARK = "Created by flask frontdesk partition, which drops it."

# The longest name in PostgreSQL.
_LONGEST = 63


class WorkTables(NamedTuple):
    """The tables next to a table that is being partitioned."""

    # The partitioned copy, which takes the table's name at the end.
    copy: str
    # The keys of rows that were changed and are to be copied again.
    changes: str
    # How far the rows are copied.
    progress: str
    # The table as it was, until it is dropped.
    former: str


def work_tables(table: str) -> WorkTables:
    return WorkTables(*(f"{table}_{end}" for end in ("copy", "changes", "progress", "former")))


def is_part_name(name: str) -> bool:
    """Return whether a table can be a partition, or a table that exists only during the work."""
    return name.startswith((f"{INBOX}_", f"{EVENTS}_"))


def temporary_name(name: str, kind: str) -> str:
    """Return another name for an index: it stays unique if it has to be shortened."""
    end = f"_{sha256(name.encode()).hexdigest()[:8]}_{kind}"
    return name[: _LONGEST - len(end)] + end


def execute(connection: Connection, sql: str) -> CursorResult[Any]:
    """Execute SQL in which a `%`, as in names and conditions of indexes, is no placeholder."""
    return connection.exec_driver_sql(sql, execution_options={"no_parameters": True})


def mark(connection: Connection, created: str) -> None:
    """Mark a table or a function, such as `TABLE copy`, as created by this command."""
    execute(connection, f"COMMENT ON {created} IS '{MARK}'")


def quoted(*names: str) -> str:
    return ".".join('"' + name.replace('"', '""') + '"' for name in names)
