"""Triggers that note the keys of changed rows, while the rows of the table are copied."""

from __future__ import annotations

from sqlalchemy import Connection, text

from ...errors import SetupError
from .live_table import LiveTable, find_work_table
from .names import MARK, execute, mark, quoted, work_tables

_TRIGGERS = {
    "INSERT": ("AFTER", "REFERENCING NEW TABLE AS new_rows"),
    "UPDATE": ("AFTER", "REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows"),
    "DELETE": ("AFTER", "REFERENCING OLD TABLE AS old_rows"),
    "TRUNCATE": ("BEFORE", ""),
}
# The enabled triggers: they run, except in sessions with session_replication_role = replica.
_ENABLED = text(
    "SELECT CAST(tgname AS text) FROM pg_trigger WHERE tgrelid = :oid"
    " AND tgfoid = to_regproc(:ours) AND tgenabled IN ('O', 'A')"
)
_FUNCTION_COMMENT = text("SELECT obj_description(to_regproc(:name), 'pg_proc')")


def notes_function(table: LiveTable) -> str:
    """Return the function of the triggers, as SQL."""
    return table.next_to(f"{table.name}_note_changes")


def create_notes(connection: Connection, table: LiveTable, key: str) -> None:
    """Create the triggers, and the tables of noted keys and of the progress."""
    names = work_tables(table.name)
    changes, progress = table.next_to(names.changes), table.next_to(names.progress)
    function = notes_function(table)
    execute(connection, f"CREATE TABLE {changes} AS SELECT {key} FROM {table.sql} WITH NO DATA")
    execute(
        connection, f"ALTER TABLE {changes} ADD n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
    )
    execute(connection, _FUNCTION.format(function=function, changes=changes, key=key))
    for operation, (moment, rows) in _TRIGGERS.items():
        execute(
            connection,
            f"CREATE TRIGGER {quoted(_trigger(table, operation))} {moment} {operation}"
            f" ON {table.sql} {rows} FOR EACH STATEMENT EXECUTE FUNCTION {function}()",
        )
    # The triggers have waited for all other writers, so this is the highest id without a note.
    execute(
        connection,
        f"CREATE TABLE {progress} AS SELECT CAST(0 AS bigint) AS position,"
        f" CAST(coalesce(max(id), 0) AS bigint) AS last_id FROM {table.sql}",
    )
    for created in (f"TABLE {changes}", f"TABLE {progress}", f"FUNCTION {function}"):
        mark(connection, created)


def find_notes(connection: Connection, table: LiveTable) -> bool:
    """Return whether there is a table of notes. Raises SetupError if it is another table."""
    return _tables(connection, table) != [None, None]


def check_notes(connection: Connection, table: LiveTable) -> None:
    """Raise SetupError if changes can be missing, because nothing has noted them."""
    enabled = connection.scalars(_ENABLED, {"oid": table.oid, "ours": notes_function(table)})
    expected = {_trigger(table, operation) for operation in _TRIGGERS}
    if None in _tables(connection, table) or set(enabled) != expected:
        raise SetupError(
            f"The triggers or tables that note the changes of {table.name} were dropped or"
            " disabled, so the copy can be incomplete. Run the command with --abort, and then"
            " again."
        )


def drop_notes(connection: Connection, table: LiveTable) -> None:
    """Drop the triggers and tables. Raises SetupError if they are not those of this command."""
    find_notes(connection, table)
    function = notes_function(table)
    comment = connection.scalar(_FUNCTION_COMMENT, {"name": function})
    if comment == MARK:
        execute(connection, f"DROP FUNCTION {function}() CASCADE")
    names = work_tables(table.name)
    for name in (names.changes, names.progress):
        execute(connection, f"DROP TABLE IF EXISTS {table.next_to(name)}")


def _tables(connection: Connection, table: LiveTable) -> list[LiveTable | None]:
    names = work_tables(table.name)
    return [
        find_work_table(connection, table.next_to(name)) for name in (names.changes, names.progress)
    ]


def _trigger(table: LiveTable, operation: str) -> str:
    return f"{table.name}_note_changes_{operation.lower()}"


# The application's user of the database needs no rights on the notes.
_FUNCTION = """
CREATE FUNCTION {function}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO {changes} ({key}) SELECT {key} FROM new_rows;
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO {changes} ({key}) SELECT {key} FROM old_rows;
    ELSIF TG_OP = 'UPDATE' THEN
        INSERT INTO {changes} ({key})
        SELECT {key} FROM old_rows UNION SELECT {key} FROM new_rows;
    ELSE
        RAISE EXCEPTION USING MESSAGE = 'A table cannot be truncated while it is partitioned';
    END IF;
    RETURN NULL;
END $$
"""
