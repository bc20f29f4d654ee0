"""The first migration creates what the 29 migrations of commit ffc84c54 created, and a database of
that commit is upgraded to the same schema as a new one."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from app import create_app
from config import Settings

from ..conftest import SECRET
from ..rigs.backends import missing, postgres_database
from ..rigs.schema_dumps import APPLICATIONS, dump, restore, upgrade

DUMPS = Path(__file__).parent / "commit_ffc84c54"
FIRST = "0031_shared_broadcasts"
# PostgreSQL adds other casts and parentheses to a condition that it has printed before.
CASTS = re.compile(r"::(?:text|character varying)(?:\[\])?|[()]")
# The indexes for the search depend on the database and are created by the next migration. Alembic
# does not record a revision on which another recorded one depends.
APART = re.compile(r"_search ON |EXTENSION|INSERT INTO (?:public\.)?alembic_version")
SENTENCE = "upgrade with commit ffc84c54 first"


@pytest.fixture(params=["sqlite", "postgresql"])
def databases(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[str]]:
    """Create two empty databases."""
    if request.param == "postgresql" and shutil.which("pg_dump") is None:
        missing("pg_dump is not installed")
    with ExitStack() as stack:
        yield [
            f"sqlite:///{tmp_path / name}.db"
            if request.param == "sqlite"
            else stack.enter_context(postgres_database(f"frontdesk_{name}_{os.getpid()}"))
            for name in ("before", "new")
        ]


def of_commit_before(name: str, url: str) -> str:
    kind = "sqlite" if url.startswith("sqlite") else "postgresql"
    return (DUMPS / f"{name}.{kind}.sql").read_text()


def normalized(dumped: str) -> list[str]:
    """Return the statements in alphabetical order, each table with its constraints after its
    columns: SQLite's text depends on how a table became what it is."""
    return sorted(map(_normalized, dumped.split(";\n")))


def _normalized(statement: str) -> str:
    statement = " ".join(statement.replace('"', "").split())
    if not statement.startswith("CREATE TABLE"):
        return CASTS.sub("", statement)
    head, _, body = statement.partition("(")
    parts = [part.strip() for part in re.split(r",(?![^(]*\))", body.rpartition(")")[0])]
    constraints = [part for part in parts if part.startswith("CONSTRAINT")]
    columns = [part for part in parts if not part.startswith("CONSTRAINT")]
    return f"{head}({', '.join([*columns, *sorted(constraints)])})"


def without_others(statements: list[str]) -> list[str]:
    return [each for each in statements if not APART.search(each)]


@pytest.mark.parametrize("name", APPLICATIONS)
def test_upgraded_database_has_the_schema_of_a_new_one(
    name: str, databases: list[str], tmp_path: Path
) -> None:
    before, new = databases
    restore(of_commit_before(name, before), before)
    upgrade(name, before, tmp_path / "own")
    upgrade(name, new, tmp_path / "own")
    assert normalized(dump(before)) == normalized(dump(new))


@pytest.mark.parametrize("name", APPLICATIONS)
def test_first_migration_creates_the_schema_of_the_commit_before(
    name: str, databases: list[str], tmp_path: Path
) -> None:
    before, new = databases
    restore(of_commit_before(name, before), before)
    targets = ("0002_of_members",) if name == "own_location" else (FIRST,)
    first = ("0001_members",) if name == "own_location" else ()
    upgrade(name, new, tmp_path / "own", *first, *targets)
    assert without_others(normalized(dump(new))) == without_others(normalized(dump(before)))


@pytest.fixture
def at_old_revision(databases: list[str]) -> str:
    before = databases[0]
    text = of_commit_before("service", before)
    restore(text.replace(f"('{FIRST}')", "('0025_saved_filters')"), before)
    return before


@contextmanager
def running(url: str) -> Iterator[Flask]:
    settings: Any = Settings(SECRET_KEY=SECRET, CORE={"DATABASE_URL": url, "LOG_LEVEL": "WARNING"})
    app = create_app(settings)
    yield app
    with app.app_context():
        app.extensions["sqlalchemy"].engine.dispose()


@pytest.mark.parametrize(
    "command",
    [
        ["db", "upgrade"],
        ["db", "downgrade"],
        ["db", "current"],
        ["db", "upgrade", "--sql", "0025_saved_filters:head"],
    ],
)
def test_older_database_needs_the_commit_before(
    command: list[str], at_old_revision: str, capfd: pytest.CaptureFixture[str]
) -> None:
    before = dump(at_old_revision)
    with running(at_old_revision) as app:
        result = app.test_cli_runner().invoke(args=command)
        assert result.exit_code == 1
    assert SENTENCE in capfd.readouterr().err
    assert dump(at_old_revision) == before


def test_downgrade_to_a_replaced_revision_is_refused(
    databases: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    app = upgrade("service", databases[1], tmp_path)
    before = dump(databases[1])
    assert app.test_cli_runner().invoke(args=["db", "downgrade", "0030_search"]).exit_code == 1
    assert SENTENCE in capfd.readouterr().err
    assert dump(databases[1]) == before


def test_doctor_and_readiness_say_what_an_older_database_needs(
    at_old_revision: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with running(at_old_revision) as app:
        response = app.test_client().get("/api/v1/health/ready")
        assert (response.status_code, response.get_json()["checks"]["schema"]) == (503, "down")
        assert SENTENCE in capfd.readouterr().err
        result = app.test_cli_runner().invoke(args=["frontdesk", "doctor", "--json"])
        [finding] = [
            each for each in json.loads(result.output)["findings"] if each["check"] == "migrations"
        ]
    assert (finding["level"], SENTENCE in finding["message"]) == ("fault", True)
