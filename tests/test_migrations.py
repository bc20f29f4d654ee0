from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from alembic import op
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from flask import Flask
from sqlalchemy import Connection, inspect

from app import create_app
from app.core.database import Base
from app.core.folders import migrations_folder
from config import Settings

from .backends import postgres_database
from .conftest import SECRET
from .servers import ROOT, bare_environment


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


def test_the_schema_goes_up_and_down_and_up_again(service: Flask) -> None:
    run(service, "upgrade")
    everything = tables(service)
    assert everything >= {"tasks", "accounts", "keystore_entries"}
    run(service, "downgrade", "base")
    assert tables(service) == {"alembic_version"}
    run(service, "upgrade")
    assert tables(service) == everything


def test_each_step_can_be_taken_back(service: Flask) -> None:
    before = [tables(service)]
    for revision in revisions():
        run(service, "upgrade", revision)
        before.append(tables(service))
    for _ in revisions():
        before.pop()
        run(service, "downgrade")
        assert tables(service) - {"alembic_version"} == before[-1] - {"alembic_version"}


def test_the_migrations_and_the_models_agree(service: Flask) -> None:
    run(service, "upgrade")
    with connect(service) as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []


def test_names_of_constraints_and_indexes_agree(service: Flask) -> None:
    """What autogenerate does not compare: a later migration drops these by name."""
    run(service, "upgrade")
    with connect(service) as connection:
        found = inspect(connection)
        for table in Base.metadata.tables.values():
            there = {index["name"] for index in found.get_indexes(table.name)}
            assert {index.name for index in table.indexes} <= there, table.name
            # SQLite does not keep the name of an autoincremented key.
            assert found.get_pk_constraint(table.name)["name"] in (f"pk_{table.name}", None)
            foreign = {key["name"] for key in found.get_foreign_keys(table.name)}
            assert {key.name for key in table.foreign_key_constraints} == foreign, table.name


def test_there_is_one_line_of_revisions() -> None:
    script = ScriptDirectory(str(migrations_folder()))
    assert len(script.get_heads()) == 1
    assert len(script.get_bases()) == 1


def test_migrating_twice_changes_nothing(service: Flask) -> None:
    run(service, "upgrade")
    everything = tables(service)
    run(service, "upgrade")
    assert tables(service) == everything


def test_machines_that_start_together_migrate_once(url: str) -> None:
    environment = bare_environment(SECRET_KEY=SECRET, CORE__DATABASE_URL=url)
    command = [sys.executable, "-m", "flask", "--app", "wsgi", "db", "upgrade"]
    started = [
        subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    ended = [(process.communicate(timeout=60)[1], process.returncode) for process in started]
    assert [code for _, code in ended] == [0, 0, 0], ended


def test_a_failed_migration_leaves_nothing_behind(
    service: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_foreign_keys_hold_again_after_a_migration(service: Flask) -> None:
    run(service, "upgrade")
    with connect(service) as connection:
        if connection.dialect.name == "sqlite":
            assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1
