"""Deletes all rows after each test, over one connection: a new connection takes longer than the
deletion."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import sql

# For larger tables TRUNCATE is faster than DELETE, although it creates new files.
_LARGE_BYTES = 256 * 1024

_TABLES = """
SELECT schemas.nspname, tables.relname, pg_total_relation_size(tables.oid) > %s
FROM pg_class AS tables JOIN pg_namespace AS schemas ON schemas.oid = tables.relnamespace
WHERE tables.relkind = 'r' AND tables.relname <> 'alembic_version'
    AND schemas.nspname !~ '^(pg_|information_schema$)'
"""
_RESTART = """
SELECT setval(numbers.seqrelid::regclass, numbers.seqstart, false)
FROM pg_sequence AS numbers WHERE pg_sequence_last_value(numbers.seqrelid) IS NOT NULL
"""


class DatabaseCleaner:
    def __init__(self, url: str) -> None:
        self._url = url.replace("+psycopg", "")
        self._connection: psycopg.Connection[Any] | None = None
        for name, _ in self._tables():
            # Without vacuum no space is reused, and queries return rows in insertion order.
            self._run(sql.SQL("ALTER TABLE {} SET (autovacuum_enabled = off)").format(name))

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def delete_rows(self) -> None:
        tables = self._tables()
        names = sql.SQL(", ").join(name for name, _ in tables)
        # The lock waits for open transactions, so that their rows are deleted too.
        statements = [sql.SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE").format(names)]
        if any(large for _, large in tables):
            statements.append(sql.SQL("TRUNCATE {}").format(names))
        else:
            statements.append(_delete([name for name, _ in tables]))
        with self._connected().transaction():
            for statement in statements:
                self._run(statement)
            self._run(sql.SQL(_RESTART))

    def _tables(self) -> list[tuple[sql.Identifier, bool]]:
        rows = self._run(sql.SQL(_TABLES), (_LARGE_BYTES,)).fetchall()
        return [(sql.Identifier(schema, name), large) for schema, name, large in rows]

    def _run(
        self, statement: sql.SQL | sql.Composed, values: tuple[Any, ...] = ()
    ) -> psycopg.Cursor[Any]:
        return self._connected().execute(statement, values)

    def _connected(self) -> psycopg.Connection[Any]:
        if self._connection is None:
            self._connection = psycopg.connect(self._url, autocommit=True)
        return self._connection


def _delete(names: list[sql.Identifier]) -> sql.Composed:
    """Return one statement for all tables, so that no foreign key is violated between deletions."""
    *others, last = (sql.SQL("DELETE FROM {}").format(name) for name in names)
    if not others:
        return last
    steps = (
        sql.SQL("{} AS ({})").format(sql.Identifier(f"step_{number}"), step)
        for number, step in enumerate(others)
    )
    return sql.SQL("WITH {} {}").format(sql.SQL(", ").join(steps), last)
