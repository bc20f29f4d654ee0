"""Upgrades the service's first released schema: its tables had names without `frontdesk_`.

Its revisions 0001 to 0007 have the ids of today's. `flask db upgrade` renames its tables, keys,
indexes and sequences to what today's revisions would have created, and then goes on from there.
An application's own tables may have such names, so only the service does this, and only where the
recorded revision and the columns of all its tables are those of the first release.
"""

import re
from typing import Any

from sqlalchemy import Connection, inspect, text

from ..errors import SetupError
from .short_locks import repeat_until_locked

REVISIONS = (
    "0001_tasks",
    "0002_accounts",
    "0003_workspaces",
    "0004_profiles",
    "0005_notifications",
    "0006_logged_out",
    "0007_standing",
)
# The revision that created each table, and its columns.
_TABLES = {
    "keystore_entries": (1, "key value expires_at"),
    "tasks": (1, "id title done priority owner"),
    "workspaces": (3, "id slug name is_default is_personal created_at"),
    "workspace_members": (3, "id workspace_id account_id type status created_at"),
    "profiles": (
        4,
        "id account_id first_name last_name date_of_birth gender marital_status phone address city"
        " state country postal_code bio avatar avatar_file extra created_at updated_at",
    ),
    "notifications": (
        5,
        "id title message channels sender_id notification_type scope receivers created_at",
    ),
    "inbox": (5, "id notification_id receiver_id is_read"),
    "outgoing_messages": (5, "id notification_id title message template_file context created_at"),
    "deliveries": (
        5,
        "id outgoing_id receiver_id channel lane state attempts due_at claim reason reference"
        " finished_at",
    ),
}
_ADDED = {"notifications": (7, {"standing", "counted_at"})}
VIEW_COMMENT = "frontdesk: the former name, for processes of the version before"

# The next revision replaces the column `notification_id`. A view of the whole row does not depend
# on the column, and works before and after that revision.
_MESSAGES = """
CREATE VIEW outgoing_messages AS SELECT id,
CAST(coalesce(to_jsonb(m) ->> 'notification_id', CASE to_jsonb(m) ->> 'subject_kind'
    WHEN 'notification' THEN to_jsonb(m) ->> 'subject_id' END) AS bigint) AS notification_id,
title, message, template_file, context, created_at FROM frontdesk_outgoing_messages m
"""
_INSERT_MESSAGE = """
CREATE FUNCTION frontdesk_insert_outgoing_message() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- The columns do not change after the lock.
    LOCK TABLE frontdesk_outgoing_messages IN ROW EXCLUSIVE MODE;
    NEW.id := nextval('frontdesk_outgoing_messages_id_seq');
    IF EXISTS (SELECT FROM pg_attribute WHERE attname = 'subject_kind'
               AND attrelid = 'frontdesk_outgoing_messages'::regclass) THEN
        INSERT INTO frontdesk_outgoing_messages
            (id, subject_kind, subject_id, title, message, template_file, context, created_at)
        VALUES (NEW.id, CASE WHEN NEW.notification_id IS NOT NULL THEN 'notification' END,
            NEW.notification_id, NEW.title, NEW.message, NEW.template_file, NEW.context,
            NEW.created_at);
    ELSE
        INSERT INTO frontdesk_outgoing_messages
            (id, notification_id, title, message, template_file, context, created_at)
        VALUES (NEW.id, NEW.notification_id, NEW.title, NEW.message, NEW.template_file,
            NEW.context, NEW.created_at);
    END IF;
    RETURN NEW;
END $$
"""
_INSERT_TRIGGER = """
CREATE TRIGGER frontdesk_insert INSTEAD OF INSERT ON outgoing_messages
FOR EACH ROW EXECUTE FUNCTION frontdesk_insert_outgoing_message()
"""

_NAMES = "|".join(_TABLES)
_FOREIGN_KEY = re.compile(rf"\bfk_({_NAMES})_(\w+?)_(?:accounts|{_NAMES})\b")
_KEY_OR_INDEX = re.compile(rf"\b(pk|uq|ix)_({_NAMES})(?=_|\b)")
_TABLE = re.compile(rf"\b({_NAMES})\b")


def adopt_first_schema(connection: Connection) -> bool:
    """Rename what the first release created; return whether this database had that schema.

    Raises SetupError where only some tables are those of the first release.
    """
    tables = _first_tables(connection)
    if connection.dialect.name == "sqlite":
        for table in tables:
            _copy(connection, table)
    elif tables:
        _rename_under_load(connection, tables)
    return bool(tables)


def drop_former_names(connection: Connection) -> None:
    """Drop the views for processes of the previous version: migrations change the tables."""
    if connection.dialect.name != "postgresql":
        return
    ours = text(
        "SELECT relname FROM pg_class WHERE relkind = 'v' AND pg_table_is_visible(oid)"
        " AND obj_description(oid, 'pg_class') = :comment"
    )
    for name in connection.scalars(ours, {"comment": VIEW_COMMENT}).all():
        connection.exec_driver_sql(f"DROP VIEW {_quoted(name)}")
    connection.exec_driver_sql("DROP FUNCTION IF EXISTS frontdesk_insert_outgoing_message()")
    connection.commit()


def renamed(sql: str) -> str:
    """Return a statement or a name of the first release with today's names."""
    sql = _FOREIGN_KEY.sub(r"fk_frontdesk_\1_\2", sql)
    sql = _KEY_OR_INDEX.sub(r"\1_frontdesk_\2", sql)
    return _TABLE.sub(r"frontdesk_\1", sql)


def _first_tables(connection: Connection) -> list[str]:
    """Return the tables to rename, each after the tables that it refers to."""
    inspector = inspect(connection)
    present = set(inspector.get_table_names())
    if "keystore_entries" not in present or "alembic_version" not in present:
        return []
    recorded = connection.scalars(text("SELECT version_num FROM alembic_version")).all()
    if len(recorded) != 1 or recorded[0] not in REVISIONS:
        return []
    if "frontdesk_keystore_entries" in present:
        # The database has today's schema, and a table of another program with this name.
        return []
    reached = REVISIONS.index(recorded[0]) + 1
    tables = [name for name, (since, _) in _TABLES.items() if since <= reached]
    for name in tables:
        expected = set(_TABLES[name][1].split())
        since, added = _ADDED.get(name, (0, set()))
        if since <= reached:
            expected |= added
        found = inspector.get_columns(name) if name in present else []
        missing = expected - {column["name"] for column in found}
        if missing or f"frontdesk_{name}" in present:
            raise SetupError(
                f"The database is at revision {recorded[0]} of Frontdesk's first release, but its"
                f" table {name!r} is not the one of that release: nothing was changed. Rename your"
                " table, or restore the columns"
                f" {', '.join(sorted(expected))} of Frontdesk's."
            )
    return tables


def _copy(connection: Connection, table: str) -> None:
    """Copy the table with its rows and the highest id used, and drop the old one.

    SQLite stores the names of keys in the table's SQL and cannot change them.
    """
    statements = connection.execute(
        text(
            "SELECT type, sql FROM sqlite_master WHERE tbl_name = :table AND sql IS NOT NULL"
            " AND type IN ('table', 'index') ORDER BY type DESC"
        ),
        {"table": table},
    ).all()
    create, *indexes = [renamed(sql) for _, sql in statements]
    new = renamed(table)
    connection.exec_driver_sql(create)
    columns = ", ".join(f'"{found["name"]}"' for found in inspect(connection).get_columns(table))
    copied = f"INSERT INTO {new} ({columns}) SELECT {columns} FROM {table}"  # noqa: S608
    connection.exec_driver_sql(copied)
    if "AUTOINCREMENT" in create:
        names = {"new": new, "former": table}
        for statement in (
            "DELETE FROM sqlite_sequence WHERE name = :new",
            "INSERT INTO sqlite_sequence SELECT :new, seq FROM sqlite_sequence"
            " WHERE name = :former",
        ):
            connection.execute(text(statement), names)
    connection.exec_driver_sql(f"DROP TABLE {table}")
    for index in indexes:
        connection.exec_driver_sql(index)


def _rename_under_load(connection: Connection, tables: list[str]) -> None:
    """Rename all tables in one transaction of some milliseconds."""
    connection.commit()
    lock = f"LOCK TABLE {', '.join(tables)} IN ACCESS EXCLUSIVE MODE"
    repeat_until_locked(connection, lambda: connection.exec_driver_sql(lock))
    for table in tables:
        _rename(connection, table)
    for table in tables:
        if table == "outgoing_messages":
            for statement in (_MESSAGES, _INSERT_MESSAGE, _INSERT_TRIGGER):
                connection.exec_driver_sql(statement)
        else:
            connection.exec_driver_sql(f"CREATE VIEW {table} AS TABLE {renamed(table)}")
        connection.exec_driver_sql(f"COMMENT ON VIEW {table} IS '{VIEW_COMMENT}'")
    connection.commit()


def _rename(connection: Connection, table: str) -> None:
    def names(sql: str) -> Any:
        return connection.execute(text(sql), {"table": table}).all()

    constraints = names(
        "SELECT conname, contype FROM pg_constraint WHERE conrelid = CAST(:table AS regclass)"
    )
    for name, kind in constraints:
        # PostgreSQL 18 names NOT NULL constraints after the table, as it names sequences.
        new = f"frontdesk_{name}" if kind == "n" else renamed(name)
        connection.exec_driver_sql(
            f"ALTER TABLE {table} RENAME CONSTRAINT {_quoted(name)} TO {_quoted(new)}"
        )
    indexes = names(
        "SELECT relname FROM pg_class JOIN pg_index ON indexrelid = pg_class.oid"
        " WHERE indrelid = CAST(:table AS regclass)"
        " AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)"
    )
    for (name,) in indexes:
        new = renamed(name)
        connection.exec_driver_sql(f"ALTER INDEX {_quoted(name)} RENAME TO {_quoted(new)}")
    sequences = names(
        "SELECT relname FROM pg_class JOIN pg_depend ON objid = pg_class.oid"
        " WHERE relkind = 'S' AND deptype = 'a' AND refobjid = CAST(:table AS regclass)"
    )
    for (name,) in sequences:
        connection.exec_driver_sql(
            f"ALTER SEQUENCE {_quoted(name)} RENAME TO {_quoted(f'frontdesk_{name}')}"
        )
    connection.exec_driver_sql(f"ALTER TABLE {table} RENAME TO {renamed(table)}")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
