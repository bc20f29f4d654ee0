"""The examples, run as their readers run them: with the wheel, each in its own folder."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from ..rigs.backends import free_port, postgres_database
from ..rigs.installed import run
from ..rigs.servers import ROOT, bare_environment

EXAMPLES = ROOT / "examples"


def run_tests_of(example: str, python: str, tmp_path: Path, **environment: str) -> None:
    folder = shutil.copytree(EXAMPLES / example, tmp_path / example)
    # A plugin of ours, which their readers need not have, would keep each waiting for seconds.
    without = ("-p", "no:cacheprovider", "-p", "no:schemathesis")
    run("-m", "pytest", "-q", *without, python=python, cwd=folder, **environment)


@pytest.mark.parametrize(
    "example",
    [
        "smallest",
        "everything",
        "moved",
        "existing",
        "cookie",
        "desk",
        "pages",
        "saas",
        "concurrent",
        "users",
        "lite",
    ],
)
def test_an_example_passes_its_own_tests(example: str, python: str, tmp_path: Path) -> None:
    run_tests_of(example, python, tmp_path)


@pytest.mark.parametrize("example", ["existing", "saas", "concurrent", "users", "lite"])
def test_a_host_passes_its_own_tests_on_postgresql_too(
    example: str, python: str, tmp_path: Path
) -> None:
    with postgres_database(f"frontdesk_{example}_{os.getpid()}") as url:
        run_tests_of(example, python, tmp_path, TEST_DATABASE_URL=url)


def test_what_the_tutorial_has_its_reader_type_works(python: str, tmp_path: Path) -> None:
    folder = shutil.copytree(EXAMPLES / "saas", tmp_path / "pinboard-app")
    steps = folder / "steps.sh"
    steps.write_text(steps.read_text().replace("5000", str(free_port())))
    (log := folder / "server.log").write_text("")
    # The packages are lent to this Python, their commands are not.
    flask = folder / "commands" / "flask"
    flask.parent.mkdir()
    flask.write_text(f'#!/bin/sh\nexec {python} -m flask "$@"\n')
    flask.chmod(0o755)
    path = f"{flask.parent}:{Path(python).parent}:{os.environ['PATH']}"
    said = subprocess.run(
        ["sh", steps.name],
        cwd=folder,
        env=bare_environment(PATH=path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == 0, said.stdout + said.stderr + log.read_text()
    assert '"text":"Water the plants"' in said.stdout
    [mail] = (folder / "instance" / "outbox").glob("*.eml")
    assert "ada@example.com" in mail.read_text()


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
