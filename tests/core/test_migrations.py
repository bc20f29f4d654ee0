from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
from alembic import op
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from flask import Flask
from flask_migrate import Migrate
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import Connection, Uuid, inspect
from sqlalchemy.orm import mapped_column

from app import AccountMixin, Frontdesk, blueprints, create_app
from app.accounts.account import ServiceBase
from app.auth.settings import AuthSettings
from app.core.db.migrations import MIGRATION_LOCK, _is_compared
from app.core.db.postgres import TIMEOUT_SECONDS
from app.core.process.folders import migrations_folder
from config import Settings

from ..conftest import SECRET
from ..rigs.backends import postgres_database
from ..rigs.hosts import HostSettings
from ..rigs.servers import checkout_environment


def compared(accounts: str = "accounts") -> dict[str, Any]:
    """Return options with which Alembic compares as `flask db check` does."""
    return {"compare_type": True, "include_object": partial(_is_compared, accounts)}


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'new.db'}"
        return
    with postgres_database(f"frontdesk_migrations_{os.getpid()}") as made:
        yield made


@pytest.fixture
def service(url: str) -> Flask:
    settings: Any = Settings(SECRET_KEY=SECRET, CORE={"DATABASE_URL": url, "LOG_LEVEL": "ERROR"})
    return create_app(settings)


def run(service: Flask, *arguments: str) -> None:
    result = service.test_cli_runner().invoke(args=["db", *arguments])
    assert result.exit_code == 0, f"{result.output}\n{result.exception!r}"


def connect(service: Flask) -> Connection:
    with service.app_context():
        connection: Connection = service.extensions["sqlalchemy"].engine.connect()
        return connection


def tables(service: Flask) -> set[str]:
    with connect(service) as connection:
        return set(inspect(connection).get_table_names()) - {"sqlite_sequence"}


def revisions() -> list[str]:
    script = ScriptDirectory(str(migrations_folder()))
    return [found.revision for found in reversed(list(script.walk_revisions()))]


def test_upgrade_downgrade_and_upgrade_give_the_same_schema(service: Flask) -> None:
    run(service, "upgrade")
    everything = tables(service)
    assert everything >= {"frontdesk_tasks", "accounts", "frontdesk_keystore_entries"}
    run(service, "downgrade", "base")
    assert tables(service) == {"alembic_version"}
    run(service, "upgrade")
    assert tables(service) == everything


def test_each_migration_can_be_downgraded(service: Flask) -> None:
    before = [tables(service)]
    for revision in revisions():
        run(service, "upgrade", revision)
        before.append(tables(service))
    for _ in revisions():
        before.pop()
        run(service, "downgrade")
        assert tables(service) - {"alembic_version"} == before[-1] - {"alembic_version"}


def test_migrations_match_the_models(url: str) -> None:
    settings: Any = Settings(
        SECRET_KEY=SECRET,
        CORE={"DATABASE_URL": url, "LOG_LEVEL": "ERROR"},
        # Features with tables that are in the metadata only if the feature is enabled.
        AUTH={"SESSIONS": "on", "MFA": "optional"},
    )
    service = create_app(settings)
    run(service, "upgrade")
    with connect(service) as connection:
        context = MigrationContext.configure(connection, opts=compared())
        assert compare_metadata(context, ServiceBase.metadata) == []


def test_index_of_an_application_is_compared_whatever_its_name_ends_in(service: Flask) -> None:
    run(service, "upgrade")
    with connect(service) as connection:
        connection.exec_driver_sql("CREATE INDEX ix_accounts_id_search ON accounts (id)")
        context = MigrationContext.configure(connection, opts=compared())
        [(change, index)] = [
            found
            for found in compare_metadata(context, ServiceBase.metadata)
            if found[0] == "remove_index"
        ]
        assert (change, index.name) == ("remove_index", "ix_accounts_id_search")


class HostWithEverything(HostSettings):
    AUTH = AuthSettings(BCRYPT_ROUNDS=4, SESSIONS="on", MFA="optional")


@pytest.fixture
def host(url: str) -> Flask:
    """Create an application with its own account model: another table name, other ids."""
    app = Flask("host")
    app.config["SQLALCHEMY_DATABASE_URI"] = url
    db = SQLAlchemy(app)
    members = {"__tablename__": "readers", "id": mapped_column(Uuid, primary_key=True)}
    reader: Any = type("Reader", (AccountMixin, db.Model), members)
    Frontdesk().init_app(app, db, settings=HostWithEverything(), account_model=reader)
    app.register_blueprint(blueprints.tasks, url_prefix="/tasks")
    Migrate(app, db, directory=str(migrations_folder()))
    with app.app_context():
        reader.__table__.create(db.engine)
    return app


def test_all_revisions_run_in_an_application(host: Flask) -> None:
    run(host, "upgrade")
    metadata = host.extensions["frontdesk"].metadata
    assert set(metadata.tables) | {"alembic_version"} == tables(host)
    with connect(host) as connection:
        context = MigrationContext.configure(connection, opts=compared("readers"))
        assert compare_metadata(context, metadata) == []
    # The revision of the accounts is not reverted: the table belongs to the application.
    run(host, "downgrade", "0002_accounts")
    assert tables(host) - {"alembic_version"} == {
        "readers",
        "frontdesk_tasks",
        "frontdesk_keystore_entries",
    }
    run(host, "upgrade")
    assert set(metadata.tables) | {"alembic_version"} == tables(host)


def test_names_of_constraints_and_indexes_match(service: Flask) -> None:
    """Autogenerate does not compare these names, by which later migrations drop them."""
    run(service, "upgrade")
    with connect(service) as connection:
        found = inspect(connection)
        for table in ServiceBase.metadata.tables.values():
            there = {index["name"] for index in found.get_indexes(table.name)}
            assert {index.name for index in table.indexes} <= there, table.name
            # SQLite does not store the name of an autoincremented key.
            assert found.get_pk_constraint(table.name)["name"] in (f"pk_{table.name}", None)
            foreign = {key["name"] for key in found.get_foreign_keys(table.name)}
            assert {key.name for key in table.foreign_key_constraints} == foreign, table.name


def test_revisions_have_one_head() -> None:
    script = ScriptDirectory(str(migrations_folder()))
    assert len(script.get_heads()) == 1
    assert len(script.get_bases()) == 1


def test_second_migration_changes_nothing(service: Flask) -> None:
    run(service, "upgrade")
    everything = tables(service)
    run(service, "upgrade")
    assert tables(service) == everything


def test_machines_that_start_together_migrate_once(url: str) -> None:
    environment = checkout_environment(SECRET_KEY=SECRET, CORE__DATABASE_URL=url)
    command = [sys.executable, "-m", "flask", "--app", "wsgi", "db", "upgrade"]
    started = [
        subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    ended = [(process.communicate(timeout=60)[1], process.returncode) for process in started]
    assert [code for _, code in ended] == [0, 0, 0], ended


LONGER = timedelta(seconds=TIMEOUT_SECONDS + 1)
IS_CONNECTED = "clock_timestamp() - backend_start > %s"
WAITS_FOR_LOCK = "wait_event_type = 'Lock' AND clock_timestamp() - query_start > %s"


def wait_for_another(first: psycopg.Connection[Any], condition: str, second: Future[None]) -> None:
    """Wait until another connection to the same database meets the condition."""
    asked = (
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database()"
        f" AND pid <> pg_backend_pid() AND {condition}"
    )
    until = time.monotonic() + 60
    while not first.execute(asked, [LONGER]).fetchone():
        assert not second.done(), second.exception()
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_second_migration_waits_longer_than_the_connection_timeout(
    service: Flask, url: str
) -> None:
    first = psycopg.connect(url.replace("+psycopg", ""), autocommit=True)
    with first, ThreadPoolExecutor() as pool:
        first.execute("SELECT pg_advisory_lock(%s)", [MIGRATION_LOCK])
        second = pool.submit(run, service, "upgrade")
        try:
            wait_for_another(first, IS_CONNECTED, second)
        finally:
            first.execute("SELECT pg_advisory_unlock(%s)", [MIGRATION_LOCK])
        second.result(timeout=60)


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_migration_may_take_longer_than_the_connection_timeout(service: Flask, url: str) -> None:
    run(service, "upgrade", "0023_expansions")
    first = psycopg.connect(url.replace("+psycopg", ""))
    with first, ThreadPoolExecutor() as pool:
        # CREATE INDEX CONCURRENTLY waits for a transaction that can write to the table.
        first.execute("LOCK TABLE frontdesk_notifications IN ROW EXCLUSIVE MODE")
        second = pool.submit(run, service, "upgrade")
        try:
            wait_for_another(first, WAITS_FOR_LOCK, second)
        finally:
            first.rollback()
        second.result(timeout=60)


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_migration_waits_for_a_long_query_without_blocking_requests(
    service: Flask, url: str
) -> None:
    run(service, "upgrade", "0016_events")
    url = url.replace("+psycopg", "")
    limit = f"-c lock_timeout={int(TIMEOUT_SECONDS * 1000)}"
    request = psycopg.connect(url, autocommit=True, options=limit)
    report = psycopg.connect(url)
    with request, report, ThreadPoolExecutor() as pool:
        report.execute("SELECT count(*) FROM accounts")
        upgraded = pool.submit(run, service, "upgrade")
        try:
            until = time.monotonic() + 3
            while time.monotonic() < until:
                request.execute("SELECT count(*) FROM accounts")
                time.sleep(0.01)
            assert not upgraded.done()
        finally:
            report.rollback()
        upgraded.result(timeout=60)


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_interrupted_migration_of_logos_continues(service: Flask) -> None:
    run(service, "upgrade", "0028_deliveries_by_end")
    with connect(service) as connection:
        # As after an interruption while the indexes are created.
        added = "ALTER TABLE frontdesk_workspaces ADD COLUMN logo_file VARCHAR(64)"
        connection.exec_driver_sql(added)
        connection.exec_driver_sql(
            "CREATE INDEX ix_frontdesk_workspaces_slug ON frontdesk_workspaces (id)"
        )
        connection.commit()
    run(service, "upgrade")
    with connect(service) as connection:
        names = {index["name"] for index in inspect(connection).get_indexes("frontdesk_workspaces")}
    assert {"ix_frontdesk_workspaces_logo_file", "ix_frontdesk_workspaces_slug"} <= names


def test_failed_migration_is_rolled_back(service: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    run(service, "upgrade", "0001_tasks")
    before = tables(service)

    def fail_after(name: str, *columns: Any, **options: Any) -> None:
        create(name, *columns, **options)
        raise RuntimeError("half-way")

    create = op.create_table
    monkeypatch.setattr(op, "create_table", fail_after)
    result = service.test_cli_runner().invoke(args=["db", "upgrade", "0002_accounts"])
    assert result.exit_code == 1
    assert tables(service) == before


def test_foreign_keys_are_enforced_after_a_migration(service: Flask) -> None:
    run(service, "upgrade")
    with connect(service) as connection:
        if connection.dialect.name == "sqlite":
            assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1


def test_queued_messages_survive_the_renamed_column(service: Flask) -> None:
    run(service, "upgrade", "0007_standing")
    about = "SELECT {} FROM frontdesk_outgoing_messages ORDER BY id"
    with connect(service) as connection:
        for statement in (
            "INSERT INTO frontdesk_notifications (id, title, message, channels,"
            " notification_type, scope, created_at, standing) VALUES (7, 't', 'm', '[]', 'system',"
            " 'account', '2026-03-01 12:00:00', '{}')",
            "INSERT INTO frontdesk_outgoing_messages"
            " (id, notification_id, title, message, created_at)"
            " VALUES (1, 7, 't', 'm', '2026-03-01 12:00:00'),"
            " (2, NULL, 'u', 'n', '2026-03-01 12:00:00')",
            "INSERT INTO frontdesk_deliveries (outgoing_id, receiver_id, channel, lane, state,"
            " attempts, due_at) VALUES (1, 5, 'email', 0, 'pending', 0, '2026-03-01 12:00:00')",
        ):
            connection.exec_driver_sql(statement)
        connection.commit()
    run(service, "upgrade", "0008_outbox_subject")
    with connect(service) as connection:
        named = connection.exec_driver_sql(about.format("subject_kind, subject_id")).all()
        assert [tuple(row) for row in named] == [("notification", 7), (None, None)]
        counts = connection.exec_driver_sql("SELECT counts FROM frontdesk_notifications").scalar()
        assert counts in ("{}", {})
    run(service, "downgrade", "0007_standing")
    with connect(service) as connection:
        assert connection.exec_driver_sql(about.format("notification_id")).scalars().all() == [
            7,
            None,
        ]
        # Deleting the notification deletes its deliveries again.
        connection.exec_driver_sql("DELETE FROM frontdesk_notifications")
        assert connection.exec_driver_sql("SELECT count(*) FROM frontdesk_deliveries").scalar() == 0


def add_profile(service: Flask, account_id: int, gender: str | None) -> int:
    """Add an account with a profile and return the profile's id."""
    with connect(service) as connection:
        moment = "2030-01-01 00:00:00"
        connection.exec_driver_sql(
            "INSERT INTO accounts (id, email, status, role, created_at)"
            f" VALUES ({account_id}, '{account_id}@example.com', 'active', 'user', '{moment}')"
        )
        value = "NULL" if gender is None else f"'{gender}'"
        added = connection.exec_driver_sql(
            "INSERT INTO frontdesk_profiles (account_id, first_name, last_name, date_of_birth,"
            " gender, marital_status, extra, created_at, updated_at)"
            f" VALUES ({account_id}, 'Ada', 'King', '1815-12-10', {value}, 'married', '{{}}',"
            f" '{moment}', '{moment}') RETURNING id"
        ).scalar_one()
        connection.commit()
        return int(added)


def delete_profile(service: Flask, profile_id: int) -> None:
    with connect(service) as connection:
        connection.exec_driver_sql(f"DELETE FROM frontdesk_profiles WHERE id = {profile_id}")
        connection.commit()


def genders(service: Flask) -> list[str | None]:
    with connect(service) as connection:
        found = connection.exec_driver_sql("SELECT gender FROM frontdesk_profiles ORDER BY id")
        return list(found.scalars())


def test_migration_makes_profile_fields_optional_and_required_again(service: Flask) -> None:
    run(service, "upgrade", "0013_profiles_nullable-1")
    last = [add_profile(service, number, "female") for number in (1, 2)][-1]
    delete_profile(service, last)
    run(service, "upgrade", "0013_profiles_nullable")
    assert add_profile(service, 3, None) > last
    assert genders(service) == ["female", None]
    run(service, "downgrade", "0013_profiles_nullable-1")
    assert genders(service) == ["female", ""]


def test_longer_hash_column_keeps_all_accounts(service: Flask) -> None:
    run(service, "upgrade", "0014_longer_hashes-1")
    add_profile(service, 7, "female")
    run(service, "upgrade", "0014_longer_hashes")
    assert genders(service) == ["female"]
    with connect(service) as connection:
        connection.exec_driver_sql(f"UPDATE accounts SET password_hash = '{'x' * 255}'")
        connection.commit()
    run(service, "downgrade", "0014_longer_hashes-1")
    with connect(service) as connection:
        hashes = connection.exec_driver_sql("SELECT id, password_hash FROM accounts").all()
        assert [tuple(row) for row in hashes] == [(7, None)]
    assert genders(service) == ["female"]


def test_migration_keeps_unknown_columns_and_triggers_of_accounts(service: Flask) -> None:
    """The table is not copied, which would lose triggers; only PostgreSQL changes the column."""
    run(service, "upgrade", "0014_longer_hashes-1")
    with connect(service) as connection:
        connection.exec_driver_sql("ALTER TABLE accounts ADD COLUMN nickname VARCHAR(20)")
        connection.commit()
        is_sqlite = connection.dialect.name == "sqlite"
    run(service, "upgrade", "0014_longer_hashes")
    with connect(service) as connection:
        columns = {column["name"]: column for column in inspect(connection).get_columns("accounts")}
        assert "nickname" in columns
        kind: Any = columns["password_hash"]["type"]
        assert kind.length == (128 if is_sqlite else 255)
