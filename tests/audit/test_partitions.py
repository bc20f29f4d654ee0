"""An audit log with a partition for each month: created ahead, dropped when old."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from flask import Flask

from app.core.db.partitioning.layouts import month_of, next_month
from app.testing.clock import SteppingClock

from ..conftest import Backend, MakeApp, migrate
from ..rigs.backends import postgres_database
from ..rigs.partitions import connect, copied_database, partitions_of, role, run

COMMAND = ("frontdesk", "partition", "events", "--by", "month")
EVENTS = "frontdesk_events"


@pytest.fixture(scope="module")
def template() -> Iterator[str]:
    with postgres_database(f"frontdesk_months_{os.getpid()}") as url:
        migrate(url)
        yield url


@pytest.fixture
def backend(template: str) -> Iterator[Backend]:
    with copied_database(template) as url:
        yield Backend("postgresql", url)


@pytest.fixture
def database(backend: Backend) -> Iterator[psycopg.Connection[Any]]:
    with connect(backend.database_url) as connection:
        yield connection


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


def months(clock: SteppingClock, *differences: int) -> list[datetime]:
    """Return the starts of months, counted from the current one."""
    found = []
    for difference in differences:
        month = month_of(clock.now())
        for _ in range(difference):
            month = next_month(month)
        for _ in range(-difference):
            month = month_of(month - timedelta(days=1))
        found.append(month)
    return found


def names(*starts: datetime) -> list[str]:
    return [f"{EVENTS}_y{month:%Y}m{month:%m}" for month in starts]


def prune(app: Flask) -> int:
    return int(json.loads(run(app, "frontdesk", "prune").splitlines()[-1])["events"])


def findings(app: Flask) -> list[str]:
    result = app.test_cli_runner().invoke(args=["frontdesk", "doctor", "--json"])
    report = json.loads(result.output.splitlines()[-1])
    return [each["message"] for each in report["findings"] if each["check"] == "partitions"]


def test_each_month_with_entries_gets_a_partition(
    make_app: MakeApp, database: psycopg.Connection[Any], clock: SteppingClock
) -> None:
    app = make_app()
    old, current, after, last = months(clock, -5, 0, 1, 2)
    add(database, old, next_month(old) - timedelta(microseconds=1), clock.now())
    run(app, *COMMAND)
    assert partitions_of(database, EVENTS) == [
        f"{EVENTS}_default",
        *names(old, current, after, last),
    ]
    assert count(database, *names(old)) == 2
    assert count(database, *names(current)) == 1
    assert count(database) == 3
    assert findings(app) == []


def settings_of(database: psycopg.Connection[Any], table: str) -> Any:
    """Return the storage parameters, a statistics target, and the number of statistics objects."""
    return database.execute(
        "SELECT own.reloptions, toast.reloptions, attstattarget,"
        " (SELECT count(*)::int FROM pg_statistic_ext WHERE stxrelid = own.oid)"
        " FROM pg_class AS own JOIN pg_class AS toast ON toast.oid = own.reltoastrelid"
        " JOIN pg_attribute ON attrelid = own.oid AND attname = 'type' WHERE own.relname = %s",
        [table],
    ).fetchone()


def test_sweep_creates_partitions_two_months_ahead(
    make_app: MakeApp, database: psycopg.Connection[Any], clock: SteppingClock
) -> None:
    app = make_app()
    database.execute(
        f"ALTER TABLE {EVENTS} SET (fillfactor = 90, toast.autovacuum_enabled = off),"
        f" ALTER type SET STATISTICS 7; CREATE STATISTICS my_objects ON type, at FROM {EVENTS}"
    )
    run(app, *COMMAND)
    before = partitions_of(database, EVENTS)
    clock.step(days=62)
    assert "has no partition" in findings(app)[0] or set(names(*months(clock, 0, 1))) <= set(before)
    assert prune(app) == 0
    parts = partitions_of(database, EVENTS)
    assert set(names(*months(clock, 0, 1, 2))) <= set(parts)
    assert findings(app) == []
    found = [settings_of(database, part) for part in parts]
    assert found == [(["fillfactor=90"], ["autovacuum_enabled=off"], 7, 1)] * len(parts)


def test_default_partition_takes_other_entries_until_they_are_moved(
    make_app: MakeApp, database: psycopg.Connection[Any], clock: SteppingClock
) -> None:
    app = make_app()
    run(app, *COMMAND)
    [early, third, far] = months(clock, -3, 3, 9)
    add(database, early, third, far)
    assert count(database, f"{EVENTS}_default") == 3
    clock.step(days=35)
    # The sweep moves nothing.
    assert prune(app) == 0
    assert count(database, f"{EVENTS}_default") == 3
    assert "without a partition of their month: 3" in findings(app)[0]
    run(app, *COMMAND)
    assert count(database, *names(early)) == 1
    assert count(database, *names(third)) == 1
    # Its month is too far ahead.
    assert count(database, f"{EVENTS}_default") == 1
    assert count(database) == 3


def test_retention_drops_old_partitions_and_deletes_other_old_entries(
    make_app: MakeApp, database: psycopg.Connection[Any], clock: SteppingClock
) -> None:
    app = make_app(AUDIT__KEEP_DAYS="40")
    limit = clock.now() - timedelta(days=40)
    old, older = month_of(limit), month_of(month_of(limit) - timedelta(days=1))
    add(database, older, old, limit - timedelta(seconds=1), limit + timedelta(days=1), clock.now())
    run(app, *COMMAND)
    add(database, datetime(2001, 1, 1, tzinfo=UTC))
    assert count(database, f"{EVENTS}_default") == 1
    assert prune(app) == 4
    assert count(database) == 2
    assert names(older)[0] not in partitions_of(database, EVENTS)
    assert names(old)[0] in partitions_of(database, EVENTS)
    assert count(database, f"{EVENTS}_default") == 0


def test_sweep_gives_up_while_a_partition_is_read(
    make_app: MakeApp,
    backend: Backend,
    database: psycopg.Connection[Any],
    clock: SteppingClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("app.core.db.partitioning.months._ATTEMPTS", 1)
    app = make_app(AUDIT__KEEP_DAYS="40")
    [old] = months(clock, -4)
    add(database, old)
    run(app, *COMMAND)
    with connect(backend.database_url) as reader, reader.transaction():
        reader.execute(f"SELECT count(*) FROM {EVENTS}")
        # The entries are deleted as without partitions.
        assert prune(app) == 1
    assert names(old)[0] in partitions_of(database, EVENTS)
    assert prune(app) == 0
    assert names(old)[0] not in partitions_of(database, EVENTS)


def rights(database: psycopg.Connection[Any], user: str, table: str) -> set[str]:
    kinds = ("SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE")
    [*found] = database.execute(
        "SELECT kind FROM unnest(%s::text[]) AS kind WHERE has_table_privilege(%s, %s, kind)",
        [list(kinds), user, table],
    ).fetchall()
    return {str(kind) for (kind,) in found}


@pytest.mark.parametrize("option", [(), ("--offline",)], ids=["online", "offline"])
def test_partitions_give_the_owner_no_right_that_the_audit_log_does_not_give(
    make_app: MakeApp,
    database: psycopg.Connection[Any],
    clock: SteppingClock,
    option: tuple[str, ...],
) -> None:
    app = make_app()
    add(database, clock.now())
    with role(database) as owner:
        database.execute(f"GRANT CREATE ON SCHEMA public TO {owner}")
        database.execute(f"ALTER TABLE {EVENTS} OWNER TO {owner}")
        # As in docs/audit-log.md.
        database.execute(f"REVOKE UPDATE ON {EVENTS} FROM {owner}")
        run(app, *COMMAND, *option)
        clock.step(days=62)
        prune(app)
        parts = partitions_of(database, EVENTS)
        assert set(names(*months(clock, 0, 1, 2))) <= set(parts)
        for table in (EVENTS, *parts):
            assert rights(database, owner, table) == {"SELECT", "INSERT", "DELETE", "TRUNCATE"}
        database.execute(f"REVOKE TRUNCATE ON {EVENTS} FROM {owner}")
        run(app, *COMMAND)
        for table in (EVENTS, *parts):
            assert rights(database, owner, table) == {"SELECT", "INSERT", "DELETE"}, table


@pytest.mark.parametrize("option", [(), ("--offline",)], ids=["online", "offline"])
def test_default_privileges_add_nothing_to_the_permissions_of_the_audit_log(
    make_app: MakeApp,
    database: psycopg.Connection[Any],
    clock: SteppingClock,
    option: tuple[str, ...],
) -> None:
    app = make_app()
    with role(database) as user:
        database.execute(f"ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO {user}, PUBLIC")
        database.execute(f"GRANT SELECT, INSERT ON {EVENTS} TO {user}")
        database.execute(f"GRANT UPDATE (address) ON {EVENTS} TO {user}")
        run(app, *COMMAND, *option)
        clock.step(days=62)
        prune(app)
        for table in (EVENTS, *partitions_of(database, EVENTS)):
            assert rights(database, user, table) == {"SELECT", "INSERT"}, table
            columns = "SELECT column_name::text FROM information_schema.column_privileges"
            found = database.execute(
                f"{columns} WHERE grantee = %s AND table_name = %s AND privilege_type = 'UPDATE'",
                [user, table],
            ).fetchall()
            assert found == [("address",)], table


def test_sweep_of_a_user_who_owns_no_tables_logs_what_to_do(
    make_app: MakeApp,
    backend: Backend,
    database: psycopg.Connection[Any],
    clock: SteppingClock,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run(make_app(), *COMMAND)
    clock.step(days=40)
    with role(database) as user:
        rights = "SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public"
        database.execute(f"GRANT {rights} TO {user}")
        url = backend.database_url.replace("postgres@", f"{user}@")
        assert prune(make_app(CORE__DATABASE_URL=url)) == 0
        assert "CORE__DATABASE_DIRECT_URL" in capsys.readouterr().err
        direct = make_app(CORE__DATABASE_URL=url, CORE__DATABASE_DIRECT_URL=backend.database_url)
        assert prune(direct) == 0
        assert set(names(*months(clock, 0, 1, 2))) <= set(partitions_of(database, EVENTS))
