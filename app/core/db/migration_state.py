"""What Alembic is asked, and told, about our tables. It is loaded by whoever asks, not before."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, NamedTuple

from sqlalchemy import Engine, MetaData, Table, inspect

from .base import UtcDateTime
from .tables import our_tables


def render_item(kind: str, item: Any, context: Any) -> str | Literal[False]:
    """For `Migrate(app, db, render_item=…)`: our column types as plain ones, so that a migration
    made from our tables needs nothing but SQLAlchemy."""
    if kind == "type" and isinstance(item, UtcDateTime):
        return "sa.DateTime(timezone=True)"
    return False


class OurRevisions(NamedTuple):
    applied: set[str]
    pending: set[str]


def our_revisions(engine: Engine, folder: Path) -> OurRevisions:
    """None is applied where our tables are in a history of the host's own."""
    from alembic.config import Config
    from alembic.runtime.migration import MigrationContext
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(folder))
    scripts = ScriptDirectory.from_config(config)
    with engine.connect() as connection:
        heads = MigrationContext.configure(connection).get_current_heads()
    known = {script.revision for script in scripts.walk_revisions()}
    applied = {
        script.revision
        for head in heads
        if head in known
        for script in scripts.iterate_revisions(head, "base")
    }
    return OurRevisions(applied, known - applied)


def lacking_columns(engine: Engine, metadata: MetaData, accounts: Table | None) -> list[str]:
    """What our tables should have and this database has not: tables, and columns of the others."""
    inspector = inspect(engine)
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
