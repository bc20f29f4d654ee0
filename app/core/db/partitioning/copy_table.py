"""Creates the partitioned copy of a table, and gives the copy the table's name.

The copy has what the table has in this database: its columns, indexes, foreign keys, statistics,
storage parameters and permissions. Its primary key has one more column.
"""

from __future__ import annotations

from sqlalchemy import Connection, text

from ...errors import SetupError
from .layouts import Layout
from .live_table import LiveTable, TableIndex, find_table, find_work_table, obstacles
from .names import execute, mark, quoted, temporary_name, work_tables
from .notes import notes_function
from .permissions import copy_permissions

# The indexes and statistics objects of the copy and of the former table have other names, because
# these names are unique in a schema.
NEW, FORMER = "new", "old"


def create_copy(connection: Connection, table: LiveTable, layout: Layout) -> LiveTable:
    """Create the empty copy with its partitions, and return it."""
    name = work_tables(table.name).copy
    copy = table.next_to(name)
    execute(
        connection,
        f"CREATE TABLE {copy} (LIKE {table.sql} INCLUDING ALL EXCLUDING INDEXES"
        f" EXCLUDING STATISTICS) PARTITION BY {layout.method} ({quoted(layout.column)})",
    )
    if settings := _settings(table):
        execute(connection, f"ALTER TABLE {copy} {', '.join(settings)}")
    for each in table.statistics:
        own = quoted(each.schema, temporary_name(each.name, NEW))
        execute(connection, f"CREATE STATISTICS {own}{each.definition} FROM {copy}")
    for name, bounds in layout.partitions(connection, table):
        part = table.next_to(name)
        create_part(connection, part, copy, table)
        execute(connection, f"ALTER TABLE {copy} ATTACH PARTITION {part} {bounds}")
    mark(connection, f"TABLE {copy}")
    copy_permissions(connection, table.sql, copy)
    # The owner copies the rows, and the swap takes these permissions back.
    execute(connection, f"GRANT ALL ON {copy} TO CURRENT_USER")
    created = find_table(connection, copy)
    assert created is not None
    return created


def create_part(connection: Connection, part: str, parent: str, like: LiveTable) -> None:
    """Create a table that can be attached to its parent, with the settings of another table.

    PostgreSQL copies the parent's statistics objects to it, but no settings.
    """
    execute(connection, f"CREATE TABLE {part} (LIKE {parent} INCLUDING ALL EXCLUDING INDEXES)")
    settings = _settings(like)
    if like.parameters:
        settings.append(f"SET ({', '.join(like.parameters)})")
    if settings:
        execute(connection, f"ALTER TABLE {part} {', '.join(settings)}")


def _settings(table: LiveTable) -> list[str]:
    return [each.settings for each in table.columns if each.settings]


def add_keys(connection: Connection, table: LiveTable, copy: LiveTable, layout: Layout) -> None:
    for index in table.indexes:
        name = quoted(temporary_name(index.name, NEW))
        constraint = index.constraint
        if index.is_primary:
            constraint = f"PRIMARY KEY ({', '.join(map(quoted, layout.key))})"
        if constraint:
            execute(connection, f"ALTER TABLE {copy.sql} ADD CONSTRAINT {name} {constraint}")
        else:
            unique = "UNIQUE " if index.is_unique else ""
            _, _, columns = index.definition.partition(" USING ")
            execute(connection, f"CREATE {unique}INDEX {name} ON {copy.sql} USING {columns}")
    for key in table.foreign_keys:
        definition = key.definition.removesuffix(" NOT VALID")
        execute(
            connection, f"ALTER TABLE {copy.sql} ADD CONSTRAINT {quoted(key.name)} {definition}"
        )


def check_obstacles(connection: Connection, table: LiveTable, layout: Layout) -> None:
    """Raise SetupError if the table cannot be partitioned, or not without a loss."""
    if found := obstacles(connection, table, layout.column, notes_function(table)):
        raise SetupError(
            f"{table.name} cannot be partitioned: the partitioned table would not have"
            f" {', '.join(sorted(found))}. Remove it first, and restore it afterwards."
        )
    former = table.next_to(work_tables(table.name).former)
    if find_work_table(connection, former) is not None:
        raise SetupError(
            f"The table {former} from before earlier partitions still exists. Rename or drop it."
        )


def check_same(table: LiveTable, copy: LiveTable) -> None:
    """Raise SetupError if the table was changed, such as by a migration, after the copy began."""
    [key] = (index.columns for index in copy.indexes if index.is_primary)
    # The columns of a primary key are NOT NULL.
    columns = [
        each._replace(is_required=each.is_required or each.name in key) for each in table.columns
    ]
    indexes = {(temporary_name(index.name, NEW), *_definition(index)) for index in table.indexes}
    statistics = {each._replace(name=temporary_name(each.name, NEW)) for each in table.statistics}
    if (
        columns != copy.columns
        or indexes != {(index.name, *_definition(index)) for index in copy.indexes}
        or _constraints(table) != _constraints(copy)
        or statistics != set(copy.statistics)
        or table.parameters != copy.parameters
    ):
        raise SetupError(
            f"The columns, indexes, constraints, statistics or storage parameters of {table.name}"
            " were changed after its copy was created. Run the command with --abort, and then"
            " again."
        )


def _definition(index: TableIndex) -> tuple[bool, str]:
    """Return what an index of the table and of the copy have in common."""
    if index.is_primary:
        return True, "PRIMARY KEY"
    return index.is_unique, index.constraint or index.definition.partition(" USING ")[2]


def _constraints(table: LiveTable) -> set[tuple[str, str]]:
    """Return the names and definitions of foreign keys and checks. The copy's are validated."""
    keys = [(key.name, key.definition) for key in table.foreign_keys]
    return {
        (name, definition.removesuffix(" NOT VALID")) for name, definition in keys + table.checks
    }


def swap(connection: Connection, table: LiveTable, copy: LiveTable) -> None:
    """Give the copy the names of the table, its indexes and its statistics. Both are locked."""
    renamed = [("INDEX", table.schema, index.name) for index in table.indexes]
    renamed += [("STATISTICS", each.schema, each.name) for each in table.statistics]
    for kind, schema, name in renamed:
        of_copy = quoted(schema, temporary_name(name, NEW))
        free = quoted(temporary_name(name, FORMER))
        execute(connection, f"ALTER {kind} {quoted(schema, name)} RENAME TO {free}")
        execute(connection, f"ALTER {kind} {of_copy} RENAME TO {quoted(name)}")
    former = work_tables(table.name).former
    execute(connection, f"ALTER TABLE {table.sql} RENAME TO {quoted(former)}")
    execute(connection, f"ALTER TABLE {copy.sql} RENAME TO {quoted(table.name)}")
    mark(connection, f"TABLE {table.next_to(former)}")
    literal = text("SELECT quote_nullable(CAST(:comment AS text))")
    comment = connection.scalar(literal, {"comment": table.comment})
    execute(connection, f"COMMENT ON TABLE {table.sql} IS {comment}")
    sequence = text("SELECT pg_get_serial_sequence(:table, 'id')")
    ids = connection.scalar(sequence, {"table": table.next_to(former)})
    if ids is not None:
        execute(connection, f"ALTER SEQUENCE {ids} OWNED BY {table.sql}.id")
    copy_permissions(connection, table.next_to(former), table.sql)
