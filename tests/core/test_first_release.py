"""The upgrade from the first released schema (commit 54fbadc), in which tables had other names.

`first_release/*.sql` were dumped from databases that the migrations of that commit created.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from flask import Flask
from flask_migrate import Migrate
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import Connection, create_engine, inspect
from sqlalchemy.orm import DeclarativeBase

import app as flask_frontdesk
from app import create_app
from app.core.db.first_schema import REVISIONS, drop_former_names, renamed
from app.core.process.folders import migrations_folder
from config import Settings

from ..conftest import SECRET, migrate
from ..rigs.backends import postgres_database
from ..rigs.old_releases import old_database

FORMER = (
    *("keystore_entries", "tasks", "workspaces", "workspace_members", "profiles"),
    *("notifications", "inbox", "outgoing_messages", "deliveries"),
)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    with old_database("first_release", request.param, tmp_path) as made:
        yield made


@pytest.fixture
def fresh(url: str, tmp_path: Path) -> Iterator[str]:
    """Create a database of the same kind with the current migrations."""
    if url.startswith("sqlite"):
        made = f"sqlite:///{tmp_path / 'fresh.db'}"
        migrate(made)
        yield made
        return
    with postgres_database(f"frontdesk_fresh_{os.getpid()}") as made:
        migrate(made)
        yield made


def service(url: str) -> Flask:
    settings: Any = Settings(SECRET_KEY=SECRET, CORE={"DATABASE_URL": url, "LOG_LEVEL": "ERROR"})
    return create_app(settings)


def upgrade(url: str, *arguments: str) -> str:
    made = service(url)
    result = made.test_cli_runner().invoke(args=["db", *(arguments or ["upgrade"])])
    with made.app_context():
        made.extensions["sqlalchemy"].engine.dispose()
    return result.output if result.exit_code == 0 else f"failed: {result.output}{result.exception}"


@contextmanager
def connected(url: str) -> Iterator[Connection]:
    engine = create_engine(url)
    with engine.connect() as connection:
        yield connection
        connection.commit()
    engine.dispose()


def described(found: list[Any]) -> list[str]:
    """Return sorted descriptions, with the condition of a partial index as text."""
    for each in found:
        options = each.get("dialect_options", {})
        each["dialect_options"] = {name: str(option) for name, option in options.items()}
    return sorted(map(str, found))


def schema(url: str) -> dict[str, Any]:
    """Return the definition of everything in a database that has a name."""
    with connected(url) as connection:
        found = inspect(connection)
        tables: dict[str, Any] = {}
        for table in found.get_table_names():
            columns = {each["name"]: each for each in found.get_columns(table)}
            tables[table] = {
                "columns": {
                    name: (str(each["type"]), each["nullable"], each["default"])
                    for name, each in columns.items()
                },
                "key": found.get_pk_constraint(table),
                "foreign": described(found.get_foreign_keys(table)),
                "unique": described(found.get_unique_constraints(table)),
                "indexes": described(found.get_indexes(table)),
            }
        if connection.dialect.name == "postgresql":
            names = "SELECT relname, relkind FROM pg_class"
            names += " WHERE relnamespace = 'public'::regnamespace"
            named = connection.exec_driver_sql(names).all()
            tables["relations"] = {tuple(row) for row in named if row[1] != "v"}
            names = "SELECT conname FROM pg_constraint WHERE connamespace = 'public'::regnamespace"
            tables["constraints"] = set(connection.exec_driver_sql(names).scalars())
        else:
            names = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"
            texts = connection.exec_driver_sql(names).all()
            # Alembic copies a table with its keys in any order.
            tables["texts"] = {name: sorted(re.split(r"[\s,()]+", sql)) for name, sql in texts}
        return tables


def rows(url: str) -> dict[str, list[Any]]:
    """Return the rows of the first release's tables, by their former names."""
    with connected(url) as connection:
        present = inspect(connection).get_table_names()
        found = {}
        for table in FORMER:
            name = table if table in present else renamed(table)
            ordered = f"SELECT * FROM {name} ORDER BY 1"
            result = connection.exec_driver_sql(ordered).mappings().all()
            found[table] = [dict(row) for row in result]
        return found


def test_upgraded_schema_equals_that_of_a_new_database(url: str, fresh: str) -> None:
    assert not upgrade(url).startswith("failed")
    upgraded, new = schema(url), schema(fresh)
    assert upgraded.keys() == new.keys()
    for name, form in new.items():
        assert upgraded[name] == form, name


def test_upgrade_keeps_all_rows_and_the_highest_ids(url: str) -> None:
    before = rows(url)
    assert all(before.values())
    upgrade(url)
    after = rows(url)
    for table, former in before.items():
        for old, new in zip(former, after[table], strict=True):
            # The next revision renames these two columns.
            if table == "notifications":
                old["counts"] = old.pop("standing")
            if table == "outgoing_messages":
                old["subject_id"] = old.pop("notification_id")
            assert new.items() >= old.items(), table
    with connected(url) as connection:
        add = "INSERT INTO frontdesk_tasks (title, done, priority, owner) VALUES"
        added = connection.exec_driver_sql(f"{add} ('New', false, 'low', 'ada') RETURNING id")
        # Task 9 was deleted before the dump: its id must not be reused.
        assert added.scalar_one() == 10


def test_accounts_sign_in_and_read_their_data_after_the_upgrade(url: str) -> None:
    upgrade(url)
    made = service(url)
    form = {"username": "ada@example.com", "password": "correct horse"}
    api = made.test_client()
    token = api.post("/api/v1/login", data=form).get_json()["access_token"]
    headers = {"Authorization": f"Bearer {token}"}
    inbox = api.get("/api/v1/notifications", headers=headers).get_json()
    assert [item["title"] for item in inbox] == ["Welcome"]
    profile = api.get("/api/v1/profiles", headers=headers).get_json()
    assert profile["likes"] == ["engines"]
    with made.app_context():
        made.extensions["sqlalchemy"].engine.dispose()


def test_second_upgrade_changes_nothing(url: str) -> None:
    upgrade(url)
    once = schema(url)
    upgrade(url)
    assert schema(url) == once


@pytest.mark.parametrize("reached", ["0001_tasks", "0003_workspaces", "0006_logged_out"])
def test_upgrade_starts_from_each_revision_of_the_first_release(
    reached: str, url: str, fresh: str
) -> None:
    created = {
        "0001_tasks": ["workspace_members", "workspaces", "accounts"],
        "0003_workspaces": [],
        "0006_logged_out": None,
    }[reached]
    with connected(url) as connection:
        changes = ["ALTER TABLE notifications DROP COLUMN standing"]
        changes += ["ALTER TABLE notifications DROP COLUMN counted_at"]
        if created is not None:
            dropped = ["deliveries", "outgoing_messages", "inbox", "notifications", "profiles"]
            changes = [f"DROP TABLE {table}" for table in [*dropped, *created]]
            if "accounts" not in created:
                changes += ["ALTER TABLE accounts DROP COLUMN logged_out_at"]
        for change in changes:
            connection.exec_driver_sql(change)
        connection.exec_driver_sql(f"UPDATE alembic_version SET version_num = '{reached}'")
    upgrade(url)
    assert {name: form for name, form in schema(url).items() if name != "texts"} == {
        name: form for name, form in schema(fresh).items() if name != "texts"
    }


def test_unexpected_table_stops_the_upgrade_before_any_change(
    url: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with connected(url) as connection:
        connection.exec_driver_sql("ALTER TABLE tasks RENAME COLUMN priority TO urgency")
    before = schema(url)
    assert upgrade(url).startswith("failed")
    assert "first release, but its table 'tasks'" in capfd.readouterr().err
    assert schema(url) == before


def test_tables_of_an_application_are_not_upgraded(url: str) -> None:
    """Only the service upgrades the first release: an application can have such tables."""

    class Base(DeclarativeBase):
        pass

    class Account(flask_frontdesk.AccountMixin, Base):
        pass

    host = Flask("host")
    host.config.update(SQLALCHEMY_DATABASE_URI=url, SECRET_KEY=SECRET)
    db = SQLAlchemy(host, model_class=Base)
    flask_frontdesk.Frontdesk().init_app(host, db, account_model=Account)
    Migrate(host, db, directory=str(migrations_folder()))
    before = schema(url)
    result = host.test_cli_runner().invoke(args=["db", "upgrade", "0007_standing"])
    assert result.exit_code == 0, result.output
    assert schema(url) == before
    assert host.test_cli_runner().invoke(args=["db", "upgrade"]).exit_code != 0
    assert schema(url) == before
    with host.app_context():
        db.engine.dispose()


def test_showing_the_revision_changes_nothing(url: str) -> None:
    before = schema(url)
    upgrade(url, "current")
    upgrade(url, "upgrade", "--sql", "0007_standing:head")
    assert schema(url) == before


@pytest.fixture
def on_postgresql(tmp_path: Path) -> Iterator[str]:
    with old_database("first_release", "postgresql", tmp_path, "serving") as made:
        yield made


# Statements of processes of the first release.
STATEMENTS = (
    "SELECT id, title, done, priority, owner FROM tasks WHERE owner = 'ada' ORDER BY id",
    "INSERT INTO tasks (title, done, priority, owner) VALUES ('t', false, 'low', 'x') RETURNING id",
    "SELECT inbox.id, notifications.title FROM inbox JOIN notifications"
    " ON notifications.id = inbox.notification_id WHERE receiver_id = 2 ORDER BY inbox.id DESC",
    "UPDATE inbox SET is_read = true WHERE receiver_id = 2",
    "INSERT INTO workspaces (slug, name, is_default, is_personal, created_at) VALUES"
    " ('ada', 'n', true, true, now()) ON CONFLICT DO NOTHING RETURNING id",
    "SELECT id, extra FROM profiles WHERE account_id = 1 FOR UPDATE",
    "INSERT INTO outgoing_messages (notification_id, title, message, created_at)"
    " VALUES (1, 't', 'm', now()) RETURNING id",
    "SELECT title FROM outgoing_messages WHERE notification_id = 1 LIMIT 1",
    "DELETE FROM outgoing_messages WHERE notification_id IS NULL AND title = 'none'",
    "UPDATE notifications SET standing = '{}', counted_at = now() WHERE id = 1",
    "SELECT id, logged_out_at FROM accounts WHERE id = 1",
)


def test_processes_of_the_first_release_work_during_the_upgrade(on_postgresql: str) -> None:
    url = on_postgresql.replace("+psycopg", "")
    done = threading.Event()

    def serve(statement: str) -> tuple[int, float]:
        count, slowest = 0, 0.0
        with psycopg.connect(url, autocommit=True, prepare_threshold=0) as old:
            while not done.is_set():
                began = time.monotonic()
                old.execute(statement)
                count, slowest = count + 1, max(slowest, time.monotonic() - began)
                time.sleep(0.002)
        return count, slowest

    with ThreadPoolExecutor(len(STATEMENTS)) as pool:
        served = [pool.submit(serve, statement) for statement in STATEMENTS]
        time.sleep(0.2)
        try:
            upgrade(on_postgresql)
            time.sleep(0.2)
        finally:
            done.set()
    counts = [each.result() for each in served]
    assert min(count for count, _ in counts) > 10, counts
    assert max(slowest for _, slowest in counts) < 5, counts
    with connected(on_postgresql) as connection:
        stored = "SELECT count(*) FROM frontdesk_tasks WHERE owner = 'x'"
        assert connection.exec_driver_sql(stored).scalar_one() == counts[1][0]


def test_renaming_waits_for_an_open_transaction_without_blocking_others(on_postgresql: str) -> None:
    url = on_postgresql.replace("+psycopg", "")
    with psycopg.connect(url) as open_transaction, ThreadPoolExecutor(1) as pool:
        open_transaction.execute("SELECT count(*) FROM tasks")
        upgraded = pool.submit(upgrade, on_postgresql)
        until = time.monotonic() + 3
        slowest = 0.0
        with psycopg.connect(url, autocommit=True) as other:
            while time.monotonic() < until:
                began = time.monotonic()
                other.execute("SELECT count(*) FROM tasks")
                slowest = max(slowest, time.monotonic() - began)
                time.sleep(0.01)
        assert not upgraded.done()
        open_transaction.rollback()
        assert not upgraded.result(timeout=60).startswith("failed")
    assert slowest < 2
    assert "frontdesk_tasks" in schema(on_postgresql)


def test_next_migration_removes_the_former_names(on_postgresql: str) -> None:
    def views() -> set[str]:
        with connected(on_postgresql) as connection:
            return set(inspect(connection).get_view_names())

    upgrade(on_postgresql)
    assert views() == set(FORMER)
    # A machine that starts later, while processes of the first release still run.
    upgrade(on_postgresql)
    assert views() == set(FORMER)
    with connected(on_postgresql) as connection:
        connection.exec_driver_sql("CREATE VIEW reports AS SELECT 1 AS one")
    upgrade(on_postgresql, "downgrade")
    assert views() == {"reports"}
    with connected(on_postgresql) as connection:
        drop_former_names(connection)
    assert views() == {"reports"}


def test_downgrade_after_the_upgrade_uses_current_revisions(url: str, fresh: str) -> None:
    upgrade(url)
    for each in (url, fresh):
        assert not upgrade(each, "downgrade", REVISIONS[-1]).startswith("failed")
    assert {name: form for name, form in schema(url).items() if name != "texts"} == {
        name: form for name, form in schema(fresh).items() if name != "texts"
    }
