from __future__ import annotations

import os
import re
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
from app.auth.idp.provider_settings import read_providers
from app.auth.settings import AuthSettings
from app.core.db.migrations import MIGRATION_LOCK, _is_compared, _is_in_models, _partitions
from app.core.db.postgres import TIMEOUT_SECONDS
from app.core.db.search_indexes import search_index_names
from app.core.process.folders import migrations_folder
from config import Settings

from ..conftest import SECRET
from ..rigs.backends import postgres_database
from ..rigs.hosts import HostSettings
from ..rigs.servers import checkout_environment


def compared(accounts: str = "accounts") -> dict[str, Any]:
    """Return options with which Alembic compares as `flask db check` does."""
    indexes = search_index_names(ServiceBase.metadata, accounts)
    return {"compare_type": True, "include_object": partial(_is_compared, indexes, frozenset)}


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


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_partitions_are_in_no_models_and_stay(service: Flask) -> None:
    with connect(service) as connection:
        connection.exec_driver_sql("CREATE TABLE own (id bigint) PARTITION BY RANGE (id)")
        connection.exec_driver_sql("CREATE TABLE own_1 PARTITION OF own DEFAULT")
        is_compared = partial(_is_in_models, set[str](), partial(_partitions, connection))
        options: dict[str, Any] = {"include_object": is_compared}
        context = MigrationContext.configure(connection, opts=options)
        changes = compare_metadata(context, ServiceBase.metadata)
        assert [found[1].name for found in changes if found[0] == "remove_table"] == ["own"]


class HostWithEverything(HostSettings):
    AUTH = AuthSettings(
        BCRYPT_ROUNDS=4,
        SESSIONS="on",
        MFA="optional",
        PERSONAL_TOKENS="on",
        PROVIDERS=read_providers(
            {"google": {"kind": "google", "client_id": "id", "client_secret": "secret"}}
        ),
    )


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
    app.register_blueprint(blueprints.notifications, url_prefix="/notifications")
    app.register_blueprint(blueprints.banners)
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
    # The table of accounts belongs to the application.
    run(host, "downgrade", "base")
    assert tables(host) - {"alembic_version"} == {"readers"}
    run(host, "upgrade")
    assert set(metadata.tables) | {"alembic_version"} == tables(host)


def test_generated_migration_drops_tables_after_those_that_refer_to_them(
    url: str, tmp_path: Path
) -> None:
    host = own_history(url, tmp_path / "migrations")
    with connect(host) as connection:
        connection.exec_driver_sql("CREATE TABLE cups (id INTEGER PRIMARY KEY)")
        key = "cup_id INTEGER CONSTRAINT fk_handles_cup_id REFERENCES cups (id)"
        connection.exec_driver_sql(f"CREATE TABLE handles (id INTEGER PRIMARY KEY, {key})")
        connection.commit()
    run(host, "migrate")
    run(host, "upgrade")
    assert tables(host) & {"cups", "handles"} == set()
    run(host, "downgrade")
    assert tables(host) >= {"cups", "handles"}


def own_history(url: str, folder: Path) -> Flask:
    """Return an application with all its tables, and a history of its own without migrations."""
    app = Flask("host")
    app.config["SQLALCHEMY_DATABASE_URI"] = url
    db = SQLAlchemy(app)
    members = {"__tablename__": "readers", "id": mapped_column(Uuid, primary_key=True)}
    reader: Any = type("Reader", (AccountMixin, db.Model), members)
    Frontdesk().init_app(app, db, settings=HostSettings(), account_model=reader)
    Migrate(app, db, directory=str(folder))
    run(app, "init")
    (folder / "env.py").write_text("from app import run_migrations\n\nrun_migrations()\n")
    with app.app_context():
        app.extensions["frontdesk"].metadata.create_all(db.engine)
        db.create_all()
    return app


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
    run(service, "upgrade", "0031_shared_broadcasts")
    first = psycopg.connect(url.replace("+psycopg", ""))
    with first, ThreadPoolExecutor() as pool:
        # CREATE INDEX CONCURRENTLY waits for a transaction that can write to the table.
        first.execute("LOCK TABLE frontdesk_profiles IN ROW EXCLUSIVE MODE")
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
    run(service, "upgrade", "0031_shared_broadcasts")
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


# What blocks requests for as long as a large existing table takes to be read or written.
SLOW = re.compile(
    r"^(?:CREATE (?:UNIQUE )?INDEX (?!CONCURRENTLY)\S+ ON (?P<indexed>\w+)"
    r"|ALTER TABLE (?P<altered>\w+) (?:ALTER COLUMN|ADD CONSTRAINT)"
    r"|UPDATE (?!alembic_version)(?P<updated>\w+)|DELETE FROM (?P<emptied>\w+))",
    re.MULTILINE,
)


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
@pytest.mark.parametrize(
    ("command", "revisions"),
    [("upgrade", "0031_shared_broadcasts:head"), ("downgrade", "head:0031_shared_broadcasts")],
)
def test_migrations_after_the_first_block_no_large_table(
    service: Flask, command: str, revisions: str
) -> None:
    """Offline mode prints the statements. It omits the indexes of the search, whose migration
    creates them concurrently."""
    result = service.test_cli_runner().invoke(args=["db", command, "--sql", revisions])
    assert result.exit_code == 0, result.output
    assert "alembic_version" in result.output
    created = set(re.findall(r"^CREATE TABLE (\w+)", result.output, re.MULTILINE))
    blocking = [
        found[0]
        for found in SLOW.finditer(result.output)
        if not created.intersection(filter(None, found.groups()))
    ]
    assert blocking == []


def test_failed_migration_is_rolled_back(service: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    before = tables(service)

    def fail_after(name: str, *columns: Any, **options: Any) -> None:
        create(name, *columns, **options)
        raise RuntimeError("half-way")

    create = op.create_table
    monkeypatch.setattr(op, "create_table", fail_after)
    result = service.test_cli_runner().invoke(args=["db", "upgrade"])
    assert result.exit_code == 1
    assert tables(service) == before


def test_foreign_keys_are_enforced_after_a_migration(service: Flask) -> None:
    run(service, "upgrade")
    with connect(service) as connection:
        if connection.dialect.name == "sqlite":
            assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1
