"""Queries to Alembic about Frontdesk's tables. Only code that needs them imports this module and
Alembic."""

from __future__ import annotations

from typing import Literal

from sqlalchemy import Connection, False_, MetaData, Table, True_, inspect

from .base import UtcDateTime
from .tables import our_tables


def render_item(kind: str, item: object, context: object) -> str | Literal[False]:
    """For `Migrate(app, db, render_item=…)`: return our column types as SQLAlchemy's own, and
    boolean server defaults as `sa.false()` and `sa.true()`. The migration then imports nothing of
    ours, and runs on SQLite and PostgreSQL whichever of them it was generated on.
    """
    if kind == "type" and isinstance(item, UtcDateTime):
        return "sa.DateTime(timezone=True)"
    if kind == "server_default":
        # Alembic renders the literal of the database at hand; PostgreSQL rejects SQLite's 0.
        match getattr(item, "arg", None):
            case False_():
                return "sa.false()"
            case True_():
                return "sa.true()"
    return False


def lacking_columns(
    connection: Connection, metadata: MetaData, accounts: Table | None
) -> list[str]:
    """What our tables should have and this database has not: tables, and columns of the others."""
    inspector = inspect(connection)
    lacking = []
    for table in [*our_tables(metadata), *([] if accounts is None else [accounts])]:
        if not inspector.has_table(table.name, schema=table.schema):
            lacking.append(table.fullname)
            continue
        columns = inspector.get_columns(table.name, schema=table.schema)
        found = {column["name"] for column in columns}
        needed = [column.name for column in table.columns]
        lacking += [f"{table.fullname}.{name}" for name in needed if name not in found]
    return sorted(set(lacking))
