"""Databases of earlier releases, and the statements that those releases send.

A folder of a release has the dumps `postgresql.sql` and `sqlite.sql` of databases that its
migrations and routes created, and `served.sql`: the statements of its main routes, recorded from
its own code. A comment names each request; a comment in JSON has the parameters of the statement
above it. `<n>` stands for a number that is used once, `<uuid>` for a random UUID, and `<table>` for
the id that a statement of the same request returned for the table.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import psycopg

from app.core.db.postgres import TIMEOUT_SECONDS

from .backends import postgres_database

RELEASES = Path(__file__).parents[1] / "core"
ENDS = {"COMMIT;": psycopg.Connection.commit, "ROLLBACK;": psycopg.Connection.rollback}
_RETURNING = re.compile(r"\b(?:INSERT INTO|UPDATE) (\w+)\b.*\bRETURNING\b")
_MARKER = re.compile(r"<(\w+)>")
_NUMBERS = count(1)

Statement = tuple[str, dict[str, Any]]


@contextmanager
def old_database(release: str, database: str, folder: Path, name: str = "old") -> Iterator[str]:
    """Restore the dump of a release and yield the database's SQLAlchemy URL."""
    dump = (RELEASES / release / f"{database}.sql").read_text()
    if database == "sqlite":
        file = folder / f"{name}.db"
        with closing(sqlite3.connect(file)) as connection:
            connection.executescript(dump)
        yield f"sqlite:///{file}"
        return
    with postgres_database(f"frontdesk_{name}_{os.getpid()}") as made:
        with psycopg.connect(made.replace("+psycopg", "")) as server:
            server.execute(dump.encode())
        yield made


@dataclass
class Served:
    """How often each request succeeded, and the errors."""

    requests: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)


@contextmanager
def old_code(release: str, url: str) -> Iterator[Served]:
    """Send the recorded statements of a release, each request continuously on its own connection.

    Every statement is prepared, as the driver prepares those that a process repeats. A lock that
    takes longer than a process waits for the database is an error.
    """
    served, over = Served(), threading.Event()
    requests = _requests((RELEASES / release / "served.sql").read_text())

    def serve(title: str) -> None:
        options = f"-c lock_timeout={int(TIMEOUT_SECONDS * 1000)}"
        with psycopg.connect(url.replace("+psycopg", ""), options=options) as connection:
            while not over.is_set():
                try:
                    _send(connection, requests[title], next(_NUMBERS))
                    served.requests[title] += 1
                except psycopg.Error as error:
                    connection.rollback()
                    served.errors.append(f"{title}: {type(error).__name__}: {error}")
                time.sleep(0.04)

    with ThreadPoolExecutor(len(requests)) as pool:
        running = [pool.submit(serve, title) for title in requests]
        try:
            _wait_for_each(served, requests, {})
            yield served
            _wait_for_each(served, requests, dict(served.requests))
        finally:
            over.set()
    for each in running:
        each.result()


def _wait_for_each(served: Served, requests: dict[str, Any], before: dict[str, int]) -> None:
    """Wait until each request was served again, or an error occurred."""
    until = time.monotonic() + 30
    while not served.errors and time.monotonic() < until:
        if all(served.requests[title] > before.get(title, 0) for title in requests):
            return
        time.sleep(0.02)


def _requests(recorded: str) -> dict[str, list[Statement]]:
    """Return the statements of each request, by its method and path."""
    requests: dict[str, list[Statement]] = {}
    statements: list[Statement] = []
    for line in filter(None, recorded.splitlines()):
        if line.startswith("-- {"):
            statements[-1] = statements[-1][0], json.loads(line[3:])
        elif line.startswith("-- "):
            statements = requests.setdefault(line[3:], [])
        else:
            statements.append((line, {}))
    return requests


def _send(connection: psycopg.Connection[Any], statements: list[Statement], number: int) -> None:
    values: dict[str, Any] = {"n": number, "uuid": uuid.uuid4()}

    def filled(value: Any) -> Any:
        if isinstance(value, list):
            return [filled(each) for each in value]
        if not isinstance(value, str):
            return value
        whole = _MARKER.fullmatch(value)
        if whole:
            return values.get(whole[1], 0)
        return _MARKER.sub(lambda found: str(values.get(found[1], found[0])), value)

    for sql, parameters in statements:
        if sql in ENDS:
            ENDS[sql](connection)
            continue
        named = {name: filled(value) for name, value in parameters.items()}
        cursor = connection.execute(sql.encode(), named or None, prepare=True)
        returned = _RETURNING.search(sql)
        if returned and (row := cursor.fetchone()):
            values[returned[1]] = row[0]
