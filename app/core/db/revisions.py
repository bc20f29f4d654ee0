"""Compares a database with our migrations and models, without loading Alembic."""

import re
from functools import cache
from pathlib import Path

from sqlalchemy import Connection, MetaData, Table, inspect, text

from .tables import our_tables

_REVISION = re.compile(r'^revision\b[^=]*= *"([^"]+)"', re.MULTILINE)
_DOWN_REVISION = re.compile(r"^down_revision\b[^=]*=(.*)$", re.MULTILINE)
_QUOTED = re.compile(r'"([^"]+)"')


def pending_migrations(
    connection: Connection, folder: Path, *, is_service: bool
) -> list[str] | None:
    """Return the revisions of Frontdesk that were not applied to the database.

    None if they are unknown: an application's own migrations create the tables, or the database
    is newer than the code.
    """
    known = _history(folder)
    heads = _heads(connection)
    applied: set[str] = set()
    waiting = [head for head in heads if head in known]
    if not waiting and (heads or not is_service):
        return None
    while waiting:
        revision = waiting.pop()
        if revision not in applied:
            applied.add(revision)
            waiting += known[revision]
    return sorted(known.keys() - applied)


@cache
def _history(folder: Path) -> dict[str, list[str]]:
    """Return each of Frontdesk's revisions with the revisions that it follows."""
    found = {}
    for file in (folder / "versions").glob("*.py"):
        source = file.read_text(encoding="utf-8")
        revision, before = _REVISION.search(source), _DOWN_REVISION.search(source)
        if revision is not None and before is not None:
            found[revision[1]] = _QUOTED.findall(before[1])
    return found


def _heads(connection: Connection) -> list[str]:
    if not inspect(connection).has_table("alembic_version"):
        return []
    return list(connection.scalars(text("SELECT version_num FROM alembic_version")))


def missing_columns(
    connection: Connection, metadata: MetaData, accounts: Table | None
) -> list[str]:
    """Return the tables and columns of the models that the database does not have."""
    inspector = inspect(connection)
    missing = []
    for table in [*our_tables(metadata), *([] if accounts is None else [accounts])]:
        if not inspector.has_table(table.name, schema=table.schema):
            missing.append(table.fullname)
            continue
        columns = inspector.get_columns(table.name, schema=table.schema)
        found = {column["name"] for column in columns}
        needed = [column.name for column in table.columns]
        missing += [f"{table.fullname}.{name}" for name in needed if name not in found]
    return sorted(set(missing))
