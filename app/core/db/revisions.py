"""Compares a database with our migrations and models, without loading Alembic."""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from sqlalchemy import Connection, MetaData, Table, inspect, text

from ..errors import SetupError
from .tables import our_tables

_REVISION = re.compile(r'^revision\b[^=]*= *"([^"]+)"', re.MULTILINE)
_DOWN_REVISION = re.compile(r"^down_revision\b[^=]*=(.*)$", re.MULTILINE)
# The branch labels of our first migration are also the ids of the migrations that it replaces.
_REPLACED = re.compile(r"^branch_labels\b[^=]*= *\(([^)]*)\)", re.MULTILINE)
_QUOTED = re.compile(r'"([^"]+)"')


class ReplacedRevision(SetupError):
    """A revision with a migration that our first migration replaces."""


def refuse_replaced(revisions: Iterable[str], folder: Path) -> None:
    """Raise ReplacedRevision if a database with these revisions lacks some of our first schema."""
    for revision in _replaced(folder).intersection(revisions):
        raise ReplacedRevision(
            f"Frontdesk's revision {revision} is from before its first release: upgrade with commit"
            " ffc84c54 first, and then with this version."
        )


def pending_migrations(
    connection: Connection, folder: Path, *, is_service: bool
) -> list[str] | None:
    """Return the revisions of Frontdesk that were not applied to the database.

    None if they are unknown: an application's own migrations create the tables, or the database
    is newer than the code. Raises ReplacedRevision.
    """
    known = _history(folder)
    heads = _heads(connection)
    refuse_replaced(heads, folder)
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


@cache
def _replaced(folder: Path) -> frozenset[str]:
    """Return the revisions that our first migration replaces."""
    found: set[str] = set()
    for file in (folder / "versions").glob("*.py"):
        if labels := _REPLACED.search(file.read_text(encoding="utf-8")):
            found.update(_QUOTED.findall(labels[1]))
    return frozenset(found - {"frontdesk"})


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
