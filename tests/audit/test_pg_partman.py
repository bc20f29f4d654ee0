"""The audit log in monthly partitions of pg_partman, with the SQL of docs/scale.md."""

from __future__ import annotations

import json
import os
import re
import textwrap
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from flask import Flask

from app.testing.clock import SteppingClock

from ..conftest import Backend, MakeApp, migrate
from ..rigs.backends import missing, postgres_database

PAGE = (Path(__file__).parents[2] / "docs" / "scale.md").read_text()
FENCE = re.compile(r"^( *)```postgresql\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
EVENTS = "frontdesk_events"
# What `flask frontdesk partition` of earlier versions created, with the months of two partitions.
BY_EARLIER_COMMAND = """
ALTER TABLE frontdesk_events RENAME TO former;
CREATE TABLE frontdesk_events (LIKE former INCLUDING DEFAULTS) PARTITION BY RANGE (at);
ALTER SEQUENCE frontdesk_events_id_seq OWNED BY frontdesk_events.id;
DROP TABLE former;
ALTER TABLE frontdesk_events ADD CONSTRAINT pk_frontdesk_events PRIMARY KEY (id, at);
CREATE INDEX ix_frontdesk_events_at ON frontdesk_events (at, id);
CREATE INDEX ix_frontdesk_events_type ON frontdesk_events (type, at, id)
    WHERE type <> 'login.succeeded';
CREATE INDEX ix_frontdesk_events_actor_id ON frontdesk_events (actor_id, at, id);
CREATE INDEX ix_frontdesk_events_account_id ON frontdesk_events (account_id, at, id);
CREATE INDEX ix_frontdesk_events_workspace_id ON frontdesk_events (workspace_id, at, id)
    WHERE workspace_id IS NOT NULL;
CREATE INDEX ix_frontdesk_events_target ON frontdesk_events (target_kind, target_id, at, id)
    WHERE target_id IS NOT NULL;
CREATE TABLE frontdesk_events_default PARTITION OF frontdesk_events DEFAULT;
"""


def steps() -> tuple[list[str], str]:
    """Return the SQL of the page: the steps, and what replaces one for the former command."""
    *blocks, former = [textwrap.dedent(found[1]) for found in FENCE.findall(PAGE)]
    assert len(blocks) == 4
    return blocks, former


@pytest.fixture
def backend() -> Iterator[Backend]:
    with postgres_database(f"frontdesk_partman_{os.getpid()}") as url:
        with psycopg.connect(url.replace("+psycopg", "")) as server:
            available = "SELECT 1 FROM pg_available_extensions WHERE name = 'pg_partman'"
            if server.execute(available).fetchone() is None:
                missing("pg_partman is not installed on the database server")
        migrate(url)
        yield Backend("postgresql", url)


@pytest.fixture
def database(backend: Backend) -> Iterator[psycopg.Connection[Any]]:
    url = backend.database_url.replace("+psycopg", "")
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection


def execute(database: psycopg.Connection[Any], block: str) -> None:
    """Execute the statements one by one: procedures that commit run in no transaction."""
    for statement in re.split(r";\n(?=(?:[^$]|\$\$.*?\$\$)*\Z)", block, flags=re.DOTALL):
        if statement.strip():
            database.execute(statement.encode())


def add(database: psycopg.Connection[Any], *moments: datetime) -> None:
    for moment in moments:
        database.execute(
            "INSERT INTO frontdesk_events (type, at, actor_kind, data)"
            " VALUES ('x', %s, 'account', '{}')",
            [moment],
        )


def count(database: psycopg.Connection[Any], table: str = EVENTS) -> int:
    [found] = database.execute(f"SELECT count(*) FROM {table}").fetchone() or [0]
    return int(found)


def partition(month: datetime) -> str:
    return f"{EVENTS}_p{month:%Y_%m}"


def partitions(database: psycopg.Connection[Any]) -> set[str]:
    rows = database.execute(
        "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = %s::regclass", [EVENTS]
    )
    return {str(name) for (name,) in rows}


def run(app: Flask, *arguments: str) -> str:
    result = app.test_cli_runner().invoke(args=list(arguments))
    assert result.exit_code == 0, f"{result.output}\n{result.exception!r}"
    return str(result.output)


def prune(app: Flask) -> int:
    return int(json.loads(run(app, "frontdesk", "prune").splitlines()[-1])["events"])


def test_audit_log_is_divided_and_maintained(
    make_app: MakeApp, database: psycopg.Connection[Any]
) -> None:
    app = make_app(AUDIT__KEEP_DAYS="365")
    [now] = database.execute("SELECT now()").fetchone() or [None]
    old, recent = now - timedelta(days=420), now - timedelta(days=40)
    add(database, old, recent, now)
    [create, replace, move, maintain], _ = steps()
    execute(database, create)
    execute(database, replace)
    add(database, now)
    assert count(database) == 1
    execute(database, move)
    assert [count(database, partition(each)) for each in (old, recent, now)] == [1, 1, 2]
    assert count(database, f"{EVENTS}_default") == 0
    # Ids continue after the former table's.
    [highest] = database.execute("SELECT max(id) FROM frontdesk_events").fetchone() or [0]
    assert highest == 4
    execute(database, maintain)
    assert partition(old) not in partitions(database)
    assert {partition(recent), partition(now), partition(now + timedelta(days=62))} <= (
        partitions(database)
    )
    assert count(database) == 3
    run(app, "db", "check")
    run(app, "accounts", "create", "ada@example.com", "--password", "correct horse battery")
    assert count(database) > 3
    run(app, "db", "downgrade")
    run(app, "db", "upgrade")


def test_audit_log_of_the_former_command_goes_on_and_is_handed_over(
    make_app: MakeApp, database: psycopg.Connection[Any], clock: SteppingClock
) -> None:
    app = make_app(AUDIT__KEEP_DAYS="100")
    now = clock.now()
    month = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    before = (month - timedelta(days=1)).replace(day=1)
    execute(database, BY_EARLIER_COMMAND)
    database.execute(
        f"CREATE TABLE {EVENTS}_y{before:%Y}m{before:%m} PARTITION OF {EVENTS}"
        f" FOR VALUES FROM ('{before}') TO ('{month}')"
    )
    add(database, now - timedelta(days=101), before, now)
    assert count(database, f"{EVENTS}_default") == 2
    run(app, "db", "check")
    assert prune(app) == 1
    assert count(database) == 2
    [create, _, move, maintain], hand_over = steps()
    for block in (create, hand_over, move, maintain):
        execute(database, block)
    assert count(database, partition(before)) == 1
    assert count(database, partition(now)) == 1
    assert count(database, f"{EVENTS}_default") == 0
    run(app, "db", "check")
