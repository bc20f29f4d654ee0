"""The examples, run as their readers run them: with the wheel, each in its own folder."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from .backends import postgres_database
from .installed import run
from .servers import ROOT

EXAMPLES = ROOT / "examples"


def run_tests_of(example: str, python: str, tmp_path: Path, **environment: str) -> None:
    folder = shutil.copytree(EXAMPLES / example, tmp_path / example)
    run("-m", "pytest", "-q", "-p", "no:cacheprovider", python=python, cwd=folder, **environment)


@pytest.mark.parametrize("example", ["smallest", "everything", "moved"])
def test_an_example_passes_its_own_tests(example: str, python: str, tmp_path: Path) -> None:
    run_tests_of(example, python, tmp_path)


def test_users_move_on_postgresql_too(python: str, tmp_path: Path) -> None:
    with postgres_database(f"frontdesk_moved_{os.getpid()}") as url:
        run_tests_of("moved", python, tmp_path, SHOP_DATABASE_URL=url)


_WITH_MIGRATIONS = """
import os
from flask_migrate import Migrate
from app import create_app, db
import flask_frontdesk

app = create_app(os.environ["DATABASE_URL"])
# [own-history]
Migrate(app, db, render_item=flask_frontdesk.render_item)
# [end]
"""


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_a_history_of_the_hosts_own_holds_our_tables(
    database: str, python: str, tmp_path: Path
) -> None:
    folder = shutil.copytree(EXAMPLES / "smallest", tmp_path / "smallest")
    app = folder / "app.py"
    app.write_text(app.read_text().replace("        db.create_all()\n", "        pass\n"))
    (folder / "wsgi.py").write_text(_WITH_MIGRATIONS)

    def flask_db(url: str, *words: str) -> str:
        command = ("-m", "flask", "--app", "wsgi", "db", *words)
        return run(*command, python=python, cwd=folder, DATABASE_URL=url)

    def make_and_apply(url: str) -> None:
        flask_db(url, "init")
        flask_db(url, "migrate", "-m", "accounts")
        flask_db(url, "upgrade")
        assert "No new upgrade operations" in flask_db(url, "check")
        doctor = ("-m", "flask", "--app", "wsgi", "frontdesk", "doctor")
        assert "0 faults" in run(*doctor, python=python, cwd=folder, DATABASE_URL=url)

    if database == "sqlite":
        make_and_apply(f"sqlite:///{tmp_path / 'host.db'}")
    else:
        with postgres_database(f"frontdesk_history_{os.getpid()}") as url:
            make_and_apply(url)
    (migration,) = (folder / "migrations" / "versions").glob("*.py")
    assert "flask_frontdesk" not in migration.read_text()
