"""Which of our migrations a database has, without loading Alembic."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from sqlalchemy import Connection, inspect, text

_REVISION = re.compile(r'^revision\b[^=]*= *"([^"]+)"', re.MULTILINE)
_DOWN_REVISION = re.compile(r"^down_revision\b[^=]*=(.*)$", re.MULTILINE)
_QUOTED = re.compile(r'"([^"]+)"')


def pending_migrations(
    connection: Connection, folder: Path, *, is_service: bool
) -> list[str] | None:
    """The revisions of our history that the database lacks. None where our history cannot decide:
    an application has our tables in a history of its own, or the database is newer than the code.
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
    """Return each of Frontdesk's revisions with the revisions before it."""
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
