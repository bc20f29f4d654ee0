"""`flask frontdesk partition`: the inbox and the audit log are partitioned while they are used."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import psycopg
import pytest
from flask import Flask
from psycopg import errors

from app import create_app
from app.core.db.partitioning import command, online
from app.core.db.partitioning.online import OnlineCopy
from app.core.db.short_locks import repeat_until_locked
from app.doctor import partitions as doctor
from config import Settings

from ..conftest import SECRET, close_connections, migrate
from ..rigs.backends import postgres_database
from ..rigs.partitions import connect, copied_database, partitions_of, role, run
from ..rigs.servers import checkout_environment

ACCOUNTS, EACH = 200, 40
# Between the changes of a writer.
PAUSE_SECONDS = 0.02
INBOX = ("frontdesk", "partition", "inbox", "--parts", "4")
EVENTS = ("frontdesk", "partition", "events", "--by", "month")
DOCTOR = ("frontdesk", "doctor", "--json")


@pytest.fixture(scope="module")
def template() -> Iterator[str]:
    with postgres_database(f"frontdesk_partitions_{os.getpid()}") as url:
        migrate(url)
        with connect(url) as connection:
            connection.execute(
                "INSERT INTO accounts (email, status, role, created_at)"
                " SELECT i || '@example.com', 'active', 'user', now()"
                " FROM generate_series(1, %s) AS i",
                [ACCOUNTS],
            )
            notify(connection, EACH)
            connection.execute(
                "INSERT INTO frontdesk_inbox (notification_id, receiver_id)"
                " SELECT n.id, a.id FROM frontdesk_notifications n CROSS JOIN accounts a"
            )
        yield url


@pytest.fixture
def url(template: str) -> Iterator[str]:
    with copied_database(template) as copied:
        yield copied


@pytest.fixture
def app(url: str) -> Iterator[Flask]:
    settings: Any = Settings(SECRET_KEY=SECRET, CORE={"DATABASE_URL": url, "LOG_LEVEL": "ERROR"})
    app = create_app(settings)
    yield app
    close_connections(app)


@pytest.fixture
def database(url: str) -> Iterator[psycopg.Connection[Any]]:
    with connect(url) as connection:
        yield connection


def notify(connection: psycopg.Connection[Any], count: int = 1) -> int:
    """Store notifications without recipients and return the last id."""
    found = connection.execute(
        "INSERT INTO frontdesk_notifications"
        " (title, message, channels, notification_type, scope, receivers, created_at)"
        " SELECT 'Hello', 'World', '[]', 'admin', 'account', 0, now()"
        " FROM generate_series(1, %s) RETURNING id",
        [count],
    ).fetchall()
    return int(found[-1][0])


def rows(connection: psycopg.Connection[Any], table: str = "frontdesk_inbox") -> list[Any]:
    return connection.execute(f"SELECT * FROM {table} ORDER BY id").fetchall()


def scalar(connection: psycopg.Connection[Any], sql: str) -> Any:
    [value] = connection.execute(sql).fetchone() or [None]
    return value


def leftovers(connection: psycopg.Connection[Any]) -> list[str]:
    """Return the tables, triggers and functions that exist only during the work."""
    found = connection.execute(
        r"SELECT relname::text FROM pg_class WHERE relkind IN ('r', 'p') AND relname ~"
        r" '^frontdesk_(inbox|events)_(copy|changes|progress|former)$' UNION ALL"
        r" SELECT tgname::text FROM pg_trigger WHERE NOT tgisinternal AND tgname ~ 'note_changes'"
        r" UNION ALL SELECT proname::text FROM pg_proc WHERE proname ~ 'note_changes'"
    )
    return [name for (name,) in found]


def findings(app: Flask) -> list[str]:
    result = app.test_cli_runner().invoke(args=DOCTOR)
    report = json.loads(result.output.splitlines()[-1])
    return [each["message"] for each in report["findings"] if each["check"] == "partitions"]


# Under load


# The same statements change a second table, which is not partitioned.
BROADCAST = """
WITH new AS (
    INSERT INTO frontdesk_inbox (notification_id, receiver_id)
    SELECT %s, id FROM accounts WHERE id %% 3 <> %s RETURNING *
) INSERT INTO mirror SELECT * FROM new
"""
MARK = """
WITH changed AS (
    UPDATE frontdesk_inbox SET is_read = NOT is_read
    WHERE receiver_id = %s AND id %% 3 = %s RETURNING *
) UPDATE mirror SET is_read = changed.is_read FROM changed WHERE mirror.id = changed.id
"""
DELETE = """
WITH removed AS (
    DELETE FROM frontdesk_inbox WHERE receiver_id = %s AND id %% 5 = %s RETURNING *
) DELETE FROM mirror USING removed WHERE mirror.id = removed.id
"""
RESTORE = """
WITH restored AS (
    INSERT INTO frontdesk_inbox SELECT * FROM deleted WHERE receiver_id = %s
    ON CONFLICT DO NOTHING RETURNING *
) INSERT INTO mirror SELECT * FROM restored
"""
KEEP_DELETED = """
INSERT INTO deleted SELECT * FROM frontdesk_inbox WHERE receiver_id = %s AND id %% 5 = %s
ON CONFLICT DO NOTHING
"""


def write(url: str, level: psycopg.IsolationLevel, stop: Event) -> int:
    """Change rows until the end and return the number of committed transactions."""
    committed = 0
    chance = random.Random(level.value)
    with connect(url) as connection:
        connection.isolation_level = level
        while not stop.is_set():
            stop.wait(PAUSE_SECONDS)
            receiver, rest = chance.randint(1, ACCOUNTS), chance.randint(0, 4)
            try:
                with connection.transaction():
                    change(connection, chance.random(), receiver, rest)
                committed += 1
            except (
                errors.SerializationFailure,
                errors.DeadlockDetected,
                errors.ForeignKeyViolation,
            ):
                continue  # Nothing was acknowledged.
    return committed


def change(connection: psycopg.Connection[Any], chance: float, receiver: int, rest: int) -> None:
    if chance < 0.03:
        connection.execute(BROADCAST, [notify(connection), rest % 3])
    elif chance < 0.035:
        connection.execute("DELETE FROM accounts WHERE id = %s", [receiver])
    elif chance < 0.04:
        connection.execute("DELETE FROM frontdesk_notifications WHERE id = %s", [rest])
    elif chance < 0.3:
        connection.execute(KEEP_DELETED, [receiver, rest])
        connection.execute(DELETE, [receiver, rest])
    elif chance < 0.4:
        connection.execute(RESTORE, [receiver])
    else:
        connection.execute(MARK, [receiver, rest % 3])


@contextmanager
def writers(url: str) -> Iterator[list[Future[int]]]:
    with connect(url) as connection:
        connection.execute("CREATE TABLE mirror AS SELECT * FROM frontdesk_inbox")
        connection.execute("ALTER TABLE mirror ADD PRIMARY KEY (id)")
        for column, target in (
            ("receiver_id", "accounts"),
            ("notification_id", "frontdesk_notifications"),
        ):
            connection.execute(
                f"ALTER TABLE mirror ADD FOREIGN KEY ({column}) REFERENCES {target}"
                " ON DELETE CASCADE"
            )
        connection.execute("CREATE TABLE deleted (LIKE mirror INCLUDING INDEXES)")
    stop = Event()
    levels = (
        psycopg.IsolationLevel.READ_COMMITTED,
        psycopg.IsolationLevel.REPEATABLE_READ,
        psycopg.IsolationLevel.SERIALIZABLE,
    )
    with ThreadPoolExecutor(len(levels)) as threads:
        running = [threads.submit(write, url, level, stop) for level in levels]
        try:
            yield running
        finally:
            stop.set()


def test_no_write_is_lost_while_the_inbox_is_partitioned(
    app: Flask, url: str, database: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "OnlineCopy", partial(OnlineCopy, batch=1_000))
    with writers(url) as running:
        run(app, *INBOX)
        time.sleep(0.5)
    assert all(future.result() > 20 for future in running)
    assert len(partitions_of(database, "frontdesk_inbox")) == 4
    assert rows(database) == rows(database, "mirror")
    assert leftovers(database) == []


# An interrupted run


@contextmanager
def interrupted(
    monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, after: int
) -> Iterator[None]:
    """End a run at the call of a function, after some calls of it."""
    function: Callable[..., Any] = getattr(owner, name)
    calls = 0

    def stop_or_call(*arguments: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls > after:
            raise KeyboardInterrupt
        return function(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, stop_or_call)
        yield


@pytest.mark.parametrize(
    ("owner", "name", "after"),
    [
        (OnlineCopy, "copy_rows", 0),
        (OnlineCopy, "_copy_batch", 2),
        (OnlineCopy, "_copy_noted", 1),
        (OnlineCopy, "finish", 0),
        (online, "swap", 0),
        (command, "drop_former", 0),
    ],
    ids=["created", "copying", "noted", "copied", "locked", "swapped"],
)
def test_interrupted_run_continues(
    app: Flask,
    database: psycopg.Connection[Any],
    monkeypatch: pytest.MonkeyPatch,
    owner: Any,
    name: str,
    after: int,
) -> None:
    monkeypatch.setattr(command, "OnlineCopy", partial(OnlineCopy, batch=1_000))
    with interrupted(monkeypatch, owner, name, after):
        run(app, *INBOX, code=1)
    database.execute("UPDATE frontdesk_inbox SET is_read = true WHERE id % 2 = 0")
    database.execute("DELETE FROM frontdesk_inbox WHERE id % 7 = 0")
    before = rows(database)
    assert "partition inbox" in findings(app)[0]
    run(app, *INBOX)
    assert rows(database) == before
    assert len(partitions_of(database, "frontdesk_inbox")) == 4
    assert leftovers(database) == []
    assert findings(app) == []


def test_killed_run_continues(app: Flask, url: str, database: psycopg.Connection[Any]) -> None:
    before = rows(database)
    arguments = [sys.executable, "-m", "flask", "--app", "wsgi", *INBOX]
    settings = checkout_environment(SECRET_KEY=SECRET, CORE__DATABASE_URL=url)
    has_begun = "SELECT to_regclass('frontdesk_inbox_progress') IS NOT NULL"
    with connect(url) as other, other.transaction():
        # The copy waits for the row of this account.
        other.execute("SELECT FROM accounts WHERE id = 150 FOR UPDATE")
        process = subprocess.Popen(arguments, env=settings, stderr=subprocess.DEVNULL)
        while not scalar(database, has_begun):
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert scalar(database, "SELECT count(*) FROM frontdesk_inbox_copy") == 0
    run(app, *INBOX)
    assert rows(database) == before
    assert leftovers(database) == []


def test_abort_removes_the_copy(
    app: Flask, database: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = rows(database)
    with interrupted(monkeypatch, OnlineCopy, "finish", 0):
        run(app, *INBOX, code=1)
    assert "--parts 4" in run(app, "frontdesk", "partition", "inbox", "--parts", "8", code=1)
    assert "--abort" in run(app, *INBOX, "--offline", code=1)
    run(app, "frontdesk", "partition", "inbox", "--abort")
    assert leftovers(database) == []
    assert rows(database) == before
    assert partitions_of(database, "frontdesk_inbox") == []
    run(app, "frontdesk", "partition", "inbox", "--parts", "8")
    assert len(partitions_of(database, "frontdesk_inbox")) == 8


def test_table_that_was_changed_meanwhile_is_not_replaced(
    app: Flask, database: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with interrupted(monkeypatch, OnlineCopy, "finish", 0):
        run(app, *INBOX, code=1)
    database.execute("ALTER TABLE frontdesk_inbox ADD archived boolean")
    assert "were changed" in run(app, *INBOX, code=1)
    assert partitions_of(database, "frontdesk_inbox") == []


def before_the_swap(monkeypatch: pytest.MonkeyPatch, change: Callable[[], object]) -> None:
    """Make a change after the rows are copied."""
    finish = OnlineCopy.finish

    def change_and_finish(self: OnlineCopy) -> None:
        change()
        finish(self)

    monkeypatch.setattr(OnlineCopy, "finish", change_and_finish)


def test_few_changes_are_copied_while_the_table_is_locked(
    app: Flask, database: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    swap, noted = OnlineCopy._swap, []

    def count_and_swap(self: OnlineCopy) -> None:
        noted.append(scalar(database, "SELECT count(*) FROM frontdesk_inbox_changes"))
        swap(self)

    change = "UPDATE frontdesk_inbox SET is_read = true WHERE id <= 3000"
    before_the_swap(monkeypatch, lambda: database.execute(change))
    monkeypatch.setattr(OnlineCopy, "_swap", count_and_swap)
    run(app, *INBOX)
    assert max(noted) <= online.MAX_LOCKED
    assert scalar(database, "SELECT count(*) FROM frontdesk_inbox WHERE is_read") == 3000


NOTE_CHANGES = "frontdesk_inbox_note_changes"


@pytest.mark.parametrize(
    "sql",
    [
        f"ALTER TABLE frontdesk_inbox DISABLE TRIGGER {NOTE_CHANGES}_update",
        f"DROP FUNCTION {NOTE_CHANGES} CASCADE",
        "DROP TABLE frontdesk_inbox_progress",
        "DROP TABLE frontdesk_inbox_copy",
    ],
)
def test_run_whose_triggers_were_dropped_does_not_continue(
    app: Flask, database: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch, sql: str
) -> None:
    with interrupted(monkeypatch, OnlineCopy, "finish", 0):
        run(app, *INBOX, code=1)
    if "FUNCTION" in sql:
        # The change would be lost.
        database.execute(f"{sql}; UPDATE frontdesk_inbox SET is_read = true WHERE id % 2 = 0")
    else:
        database.execute(sql)
    before = rows(database)
    assert "--abort" in run(app, *INBOX, code=1)
    run(app, "frontdesk", "partition", "inbox", "--abort")
    assert leftovers(database) == []
    run(app, *INBOX)
    assert rows(database) == before
    assert leftovers(database) == []


def test_table_whose_triggers_are_disabled_during_the_copy_is_not_replaced(
    app: Flask, database: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    disable = "ALTER TABLE frontdesk_inbox DISABLE TRIGGER USER"
    before_the_swap(monkeypatch, lambda: database.execute(disable))
    assert "--abort" in run(app, *INBOX, code=1)
    assert partitions_of(database, "frontdesk_inbox") == []


FUNCTION = "EXECUTE FUNCTION suppress_redundant_updates_trigger()"
TABLE = "ALTER TABLE frontdesk_inbox"
# Each with the statement that takes it back, and the message.
CHANGES = [
    (
        f"CREATE TRIGGER mine BEFORE UPDATE ON frontdesk_inbox FOR EACH ROW {FUNCTION}",
        "DROP TRIGGER mine ON frontdesk_inbox",
        "trigger mine",
    ),
    ("CREATE POLICY mine ON frontdesk_inbox", "DROP POLICY mine ON frontdesk_inbox", "policy mine"),
    (f"{TABLE} ENABLE ROW LEVEL SECURITY", f"{TABLE} DISABLE ROW LEVEL SECURITY", "row-level"),
    (
        "CREATE RULE mine AS ON DELETE TO frontdesk_inbox DO ALSO NOTHING",
        "DROP RULE mine ON frontdesk_inbox",
        "rule mine",
    ),
    (
        "CREATE PUBLICATION mine FOR TABLE frontdesk_inbox",
        "DROP PUBLICATION mine",
        "publication mine",
    ),
    ("CREATE VIEW mine AS SELECT id FROM frontdesk_inbox", "DROP VIEW mine", "view mine"),
    ("CREATE TABLE mine (id bigint REFERENCES frontdesk_inbox)", "DROP TABLE mine", "foreign key"),
    (f"{TABLE} REPLICA IDENTITY FULL", f"{TABLE} REPLICA IDENTITY DEFAULT", "replica identity"),
    (f"{TABLE} SET UNLOGGED", f"{TABLE} SET LOGGED", "UNLOGGED"),
    (
        "ALTER INDEX pk_frontdesk_inbox SET (fillfactor = 70)",
        "ALTER INDEX pk_frontdesk_inbox RESET (fillfactor)",
        "storage parameters of pk_frontdesk_inbox",
    ),
    (f"{TABLE} ALTER is_read DROP NOT NULL", f"{TABLE} ALTER is_read SET NOT NULL", "were changed"),
    (
        f"{TABLE} ALTER is_read SET STATISTICS 500",
        f"{TABLE} ALTER is_read SET STATISTICS -1",
        "were changed",
    ),
    (f"{TABLE} SET (fillfactor = 70)", f"{TABLE} RESET (fillfactor)", "were changed"),
    (
        "CREATE STATISTICS mine ON is_read, receiver_id FROM frontdesk_inbox",
        "DROP STATISTICS mine",
        "were changed",
    ),
    (
        f"{TABLE} ADD CONSTRAINT mine CHECK (id > 0)",
        f"{TABLE} DROP CONSTRAINT mine",
        "were changed",
    ),
    (
        "DROP INDEX my_index; CREATE INDEX my_index ON frontdesk_inbox (id) WHERE is_read",
        "DROP INDEX my_index; CREATE INDEX my_index ON frontdesk_inbox (id)",
        "were changed",
    ),
]


def test_changes_of_the_table_during_the_copy_are_not_lost(
    app: Flask, database: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    database.execute("CREATE INDEX my_index ON frontdesk_inbox (id)")
    pending = list(CHANGES)
    before_the_swap(monkeypatch, lambda: pending and database.execute(pending[0][0]))
    while pending:
        change, undo, message = pending[0]
        assert message in run(app, *INBOX, code=1), change
        assert partitions_of(database, "frontdesk_inbox") == []
        database.execute(undo)
        pending.pop(0)
    run(app, *INBOX)
    assert len(partitions_of(database, "frontdesk_inbox")) == 4


def test_additions_before_the_lock_of_an_offline_change_are_not_lost(
    app: Flask, database: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def change_and_lock(connection: Any, change: Callable[[], object]) -> bool:
        database.execute("CREATE VIEW mine AS SELECT id FROM frontdesk_inbox")
        return repeat_until_locked(connection, change)

    monkeypatch.setattr(command, "repeat_until_locked", change_and_lock)
    assert "view mine" in run(app, *INBOX, "--offline", code=1)
    assert partitions_of(database, "frontdesk_inbox") == []
    assert leftovers(database) == []


@pytest.mark.parametrize("end", ["copy", "changes", "progress", "former"])
def test_own_tables_with_the_names_of_work_tables_are_not_dropped(
    app: Flask, database: psycopg.Connection[Any], end: str
) -> None:
    own = f"frontdesk_inbox_{end}"
    database.execute(f"CREATE TABLE {own} AS SELECT 7 AS id")
    assert findings(app) == []
    for option in ((), ("--offline",)):
        assert f"table {own} was not created" in run(app, *INBOX, *option, code=1)
    run(app, "frontdesk", "partition", "inbox", "--abort", code=0 if end == "former" else 1)
    assert rows(database, own) == [(7,)]
    database.execute(f"ALTER TABLE {own} RENAME TO own_table")
    run(app, *INBOX)
    database.execute(f"ALTER TABLE own_table RENAME TO {own}")
    assert findings(app) == []
    run(app, *INBOX)
    assert rows(database, own) == [(7,)]


def test_second_command_waits_and_refuses(
    app: Flask, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "_LOCK_SECONDS", 0.3)
    with connect(url) as other:
        other.execute("SELECT pg_advisory_lock(%s)", [command._LOCK])
        assert "Another process" in run(app, *INBOX, code=1)


# The result


@pytest.mark.parametrize("option", [(), ("--offline",)], ids=["online", "offline"])
def test_partitioned_tables_have_what_the_models_and_migrations_expect(
    app: Flask, database: psycopg.Connection[Any], option: tuple[str, ...]
) -> None:
    before = rows(database)
    with role(database) as reader:
        database.execute(f"GRANT SELECT ON frontdesk_inbox TO {reader}")
        run(app, *INBOX, *option)
        run(app, *EVENTS, *option)
        granted = f"SELECT has_table_privilege('{reader}', 'frontdesk_inbox', 'SELECT')"
        assert scalar(database, granted)
    assert rows(database) == before
    run(app, "db", "check")
    run(app, "db", "downgrade")
    run(app, "db", "upgrade")
    run(app, "db", "check")
    # New rows get ids from the sequence, and deleted accounts and notifications take theirs along.
    last = database.execute(
        "INSERT INTO frontdesk_inbox (notification_id, receiver_id) VALUES (%s, 1) RETURNING id",
        [notify(database)],
    ).fetchone()
    assert last == (len(before) + 1,)
    database.execute("DELETE FROM accounts WHERE id = 1")
    database.execute("DELETE FROM frontdesk_notifications WHERE id = 1")
    assert len(rows(database)) == (ACCOUNTS - 1) * (EACH - 1)


def test_partitioned_tables_can_be_migrated_down_and_up_again(app: Flask) -> None:
    run(app, *INBOX)
    run(app, *EVENTS)
    run(app, "db", "downgrade", "base")
    run(app, "db", "upgrade")
    run(app, "db", "check")


def test_partitioned_inbox_keeps_its_number_of_parts(app: Flask) -> None:
    run(app, *INBOX)
    assert json.loads(run(app, *INBOX, "--json")) == {"table": "frontdesk_inbox", "partitions": 4}
    assert "4 partitions" in run(app, "frontdesk", "partition", "inbox", "--parts", "5", code=1)
    assert "nothing to abort" in run(app, "frontdesk", "partition", "inbox", "--abort", code=1)


def test_own_additions_to_a_table_are_not_lost(
    app: Flask, database: psycopg.Connection[Any]
) -> None:
    database.execute("CREATE VIEW my_report AS SELECT count(*) FROM frontdesk_inbox")
    assert "view my_report" in run(app, *INBOX, code=1)
    database.execute("DROP VIEW my_report")
    database.execute("CREATE UNIQUE INDEX my_ids ON frontdesk_inbox (id)")
    assert "unique index my_ids" in run(app, *INBOX, code=1)
    database.execute("DROP INDEX my_ids")
    database.execute("CREATE STATISTICS my_objects ON is_read, receiver_id FROM frontdesk_inbox")
    database.execute("ALTER STATISTICS my_objects SET STATISTICS 500")
    assert "statistics target of my_objects" in run(app, *INBOX, code=1)
    database.execute("DROP STATISTICS my_objects")
    database.execute("CREATE INDEX my_index ON frontdesk_inbox (is_read, id) WHERE id > 10")
    run(app, *INBOX)
    indexes = "SELECT count(*) FROM pg_indexes WHERE indexname = 'my_index'"
    assert scalar(database, indexes) == 1


def settings_of(connection: psycopg.Connection[Any], table: str) -> list[Any]:
    """Return the statistics targets, the options of columns, and the storage parameters."""
    return connection.execute(
        "WITH own AS (SELECT * FROM pg_attribute WHERE attrelid = %(table)s::regclass"
        " AND attnum > 0) SELECT attname || ' ' || attstattarget FROM own WHERE attstattarget >= 0"
        " UNION ALL SELECT option FROM own, unnest(attoptions) AS option WHERE option ~ '^n_'"
        " UNION ALL SELECT unnest(reloptions) FROM pg_class WHERE oid = %(table)s::regclass",
        {"table": table},
    ).fetchall()


def statistics_of(connection: psycopg.Connection[Any]) -> list[Any]:
    return connection.execute(
        "SELECT pg_get_statisticsobjdef(oid) FROM pg_statistic_ext"
        " WHERE stxrelid = 'frontdesk_inbox'::regclass ORDER BY stxname"
    ).fetchall()


@pytest.mark.parametrize("option", [(), ("--offline",)], ids=["online", "offline"])
def test_partitions_have_the_statistics_and_storage_parameters_of_the_table(
    app: Flask, database: psycopg.Connection[Any], option: tuple[str, ...]
) -> None:
    database.execute(
        "CREATE STATISTICS my_a (mcv) ON is_read, receiver_id FROM frontdesk_inbox;"
        'CREATE STATISTICS "my 100% b" ON (id % 7), notification_id FROM frontdesk_inbox;'
        f"{TABLE} ALTER is_read SET STATISTICS 500, ALTER receiver_id SET (n_distinct = -0.5),"
        " SET (autovacuum_vacuum_scale_factor = 0.01, fillfactor = 70)"
    )
    settings = settings_of(database, "frontdesk_inbox")
    statistics = statistics_of(database)
    assert (len(settings), len(statistics)) == (4, 2)
    run(app, *INBOX, *option)
    assert statistics_of(database) == statistics
    # Each partition has separate statistics.
    assert scalar(database, "SELECT count(DISTINCT tablename) FROM pg_stats_ext") == 5
    for part in partitions_of(database, "frontdesk_inbox"):
        assert settings_of(database, part) == settings
    # A partitioned table has no storage parameters.
    assert settings_of(database, "frontdesk_inbox") == settings[:2]


def test_names_and_conditions_can_contain_percent_signs_and_braces(
    app: Flask, database: psycopg.Connection[Any]
) -> None:
    reader = '"frontdesk {0} 100%s"'
    database.execute("COMMENT ON TABLE frontdesk_inbox IS 'It''s 100% full'")
    database.execute("CREATE INDEX my_index ON frontdesk_inbox (id) WHERE receiver_id % 2 = 0")
    database.execute("ALTER TABLE frontdesk_inbox ADD CONSTRAINT my_check CHECK (id % 1 = 0)")
    database.execute("ALTER TABLE frontdesk_inbox ALTER is_read SET DEFAULT 5 % 2 = 0")
    database.execute(f"CREATE ROLE {reader}")
    try:
        database.execute(f"GRANT SELECT ON frontdesk_inbox TO {reader}")
        run(app, *INBOX)
        granted = "SELECT has_table_privilege(%s, 'frontdesk_inbox', 'SELECT')"
        assert database.execute(granted, [reader.strip('"')]).fetchone() == (True,)
    finally:
        database.execute(f"DROP OWNED BY {reader}")
        database.execute(f"DROP ROLE {reader}")
    comment = "SELECT obj_description('frontdesk_inbox'::regclass)"
    assert scalar(database, comment) == "It's 100% full"
    condition = "SELECT indexdef FROM pg_indexes WHERE indexname = 'my_index'"
    assert "((receiver_id % " in scalar(database, condition)


def test_table_in_a_schema_of_another_name_is_partitioned(
    app: Flask, url: str, database: psycopg.Connection[Any]
) -> None:
    before = rows(database)
    database.execute('ALTER SCHEMA public RENAME TO "Desk"')
    database.execute(f'ALTER DATABASE "{database.info.dbname}" SET search_path = "Desk"')
    with app.app_context():
        app.extensions["sqlalchemy"].engine.dispose()
    run(app, *INBOX)
    assert rows(database, '"Desk".frontdesk_inbox') == before


def test_command_acts_as_the_owner_of_the_table(
    app: Flask, database: psycopg.Connection[Any]
) -> None:
    with role(database) as owner:
        database.execute(f"GRANT CREATE ON SCHEMA public TO {owner}")
        for table in ("frontdesk_inbox", "frontdesk_notifications", "accounts"):
            database.execute(f"ALTER TABLE {table} OWNER TO {owner}")
        run(app, *INBOX)
        owners = "SELECT DISTINCT tableowner FROM pg_tables WHERE tablename ~ '^frontdesk_inbox'"
        assert [name for (name,) in database.execute(owners)] == [owner]


def test_sqlite_is_refused(tmp_path: Path) -> None:
    settings: Any = Settings(
        SECRET_KEY=SECRET, CORE={"DATABASE_URL": f"sqlite:///{tmp_path / 'x.db'}"}
    )
    assert "Only PostgreSQL" in run(create_app(settings), *INBOX, code=1)


@pytest.mark.parametrize(
    "arguments",
    [("inbox", "--by", "month"), ("events", "--parts", "4"), ("inbox", "--abort", "--offline")],
)
def test_options_of_the_other_table_are_refused(arguments: tuple[str, ...], app: Flask) -> None:
    run(app, "frontdesk", "partition", *arguments, code=2)


def test_doctor_recommends_partitions_for_a_large_inbox(
    app: Flask, database: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert findings(app) == []
    monkeypatch.setattr(doctor, "MAX_INBOX_ROWS", 1_000)
    database.execute("ANALYZE frontdesk_inbox")
    [message] = findings(app)
    assert "8,000 rows" in message
    assert "flask frontdesk partition inbox" in message
    run(app, *INBOX)
    assert findings(app) == []


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        ("integer", "receiver_id::integer"),
        ("uuid", "lpad(receiver_id::text, 32, '0')::uuid"),
        ("varchar(40)", "'account ' || receiver_id"),
    ],
)
def test_accounts_can_have_ids_of_any_type(
    app: Flask, database: psycopg.Connection[Any], type_: str, value: str
) -> None:
    database.execute("ALTER TABLE frontdesk_inbox DROP CONSTRAINT fk_frontdesk_inbox_receiver_id")
    database.execute(f"ALTER TABLE frontdesk_inbox ALTER receiver_id TYPE {type_} USING {value}")
    before = rows(database)
    run(app, *INBOX)
    assert rows(database) == before
    sizes = [rows(database, part) for part in partitions_of(database, "frontdesk_inbox")]
    assert all(sizes)
