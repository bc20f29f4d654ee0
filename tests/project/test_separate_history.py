"""`flask frontdesk migrations init` in a new application, with the installed wheel."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ..rigs.backends import postgres_database
from ..rigs.installed import run
from ..rigs.servers import ROOT, bare_environment

EXAMPLE = ROOT / "examples" / "separate_history"
UUIDS = """
    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    name: Mapped"""
Flask = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'notes.db'}"
        return
    with postgres_database(f"frontdesk_separate_{os.getpid()}") as made:
        yield made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    # The separator of Alembic's locations must not break it.
    return shutil.copytree(EXAMPLE, tmp_path / "the notes")


@pytest.fixture
def flask(quick_python: str, folder: Path, url: str) -> Flask:
    def call(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [quick_python, "-m", "flask", "--app", "app", *words],
            cwd=folder,
            env=bare_environment(DATABASE_URL=url),
            capture_output=True,
            text=True,
            check=False,
        )

    return call


def with_uuids(folder: Path) -> None:
    app = folder / "app.py"
    text = app.read_text().replace("\n    name: Mapped", UUIDS, 1)
    text = text.replace("account_id: Mapped[int]", "account_id: Mapped[UUID]")
    app.write_text(text.replace("import os\n", "import os\nfrom uuid import UUID, uuid4\n", 1))


def steps() -> list[list[str]]:
    lines = (EXAMPLE / "steps.sh").read_text().splitlines()
    return [line.split()[3:] for line in lines if line.startswith("flask ")]


def package_files(python: str) -> list[str]:
    code = "import flask_frontdesk as f, pathlib; print(pathlib.Path(f.__file__).parent)"
    folder = Path(run("-c", code, python=python).strip(), "migrations", "versions")
    return sorted(each.name for each in folder.glob("*.py"))


@pytest.mark.parametrize("ids", ["integer", "uuid"])
def test_new_application_has_its_own_history_after_the_documented_commands(
    flask: Flask, folder: Path, quick_python: str, ids: str
) -> None:
    if ids == "uuid":
        with_uuids(folder)
    before = package_files(quick_python)
    for words in steps():
        done = flask(*words)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
    assert "No new upgrade operations" in done.stdout + done.stderr
    versions = folder / "migrations" / "versions"
    first, mine = sorted(versions.glob("*.py"), key=lambda each: not each.name.startswith("0001"))
    assert (first.name, mine.name.endswith("_mine.py")) == ("0001_app.py", True)
    assert package_files(quick_python) == before
    doctor = flask("frontdesk", "doctor")
    assert "0 errors" in doctor.stdout, doctor.stdout
    # The commands run again, and down and up again.
    files = {each: each.read_bytes() for each in (folder / "migrations").rglob("*.*")}
    assert flask("frontdesk", "migrations", "init").returncode == 0
    assert {each: each.read_bytes() for each in files} == files
    down = flask("db", "downgrade", "app@base")
    assert down.returncode == 0, down.stderr
    up = flask("db", "upgrade", "heads")
    assert up.returncode == 0, up.stderr


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_changed_files_are_kept_and_the_command_prints_what_to_add(
    flask: Flask, folder: Path
) -> None:
    assert "flask db init" in flask("frontdesk", "migrations", "init").stderr
    flask("db", "init")
    ini, env = folder / "migrations" / "alembic.ini", folder / "migrations" / "env.py"
    env.write_text(env.read_text() + "\n# mine\n")
    ini.write_text(ini.read_text().replace("[alembic]", "[alembic]\nversion_locations = mine"))
    before = (env.read_text(), ini.read_text())
    done = flask("frontdesk", "migrations", "init")
    assert done.returncode == 0, done.stderr
    assert (env.read_text(), ini.read_text()) == before
    assert "run_migrations()" in done.stdout
    assert "flask_frontdesk:migrations/versions" in done.stdout


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_no_migration_is_written_outside_the_application(
    flask: Flask, folder: Path, quick_python: str, tmp_path: Path
) -> None:
    before = package_files(quick_python)
    for words in steps()[:3]:
        assert flask(*words).returncode == 0
    for words in (["migrate"], ["revision"]):
        done = flask("db", *words, "--head", "frontdesk@head")
        assert done.returncode == 1
        assert "is not a folder of your application" in done.stderr
    # A link that leads out of the application.
    versions = folder / "migrations" / "versions"
    elsewhere = shutil.move(versions, tmp_path / "elsewhere")
    versions.symlink_to(elsewhere)
    for words in (["db", "migrate"], ["frontdesk", "migrations", "init"]):
        done = flask(*words)
        assert "is not a folder of your application" in done.stderr, words
    assert len(list(Path(elsewhere).glob("*.py"))) == 1
    # Without a history of its own, as before the command existed.
    versions.unlink()
    versions.mkdir()
    (tmp_path / "notes.db").unlink()
    assert flask("db", "upgrade", "heads").returncode == 0
    assert "is not a folder of your application" in flask("db", "migrate").stderr
    assert package_files(quick_python) == before


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_merge_keeps_the_histories_separate_and_merges_own_branches(
    flask: Flask, folder: Path, quick_python: str
) -> None:
    before = package_files(quick_python)
    for words in steps():
        assert flask(*words).returncode == 0
    files = sorted((folder / "migrations").rglob("*.py"))
    for revisions in (["heads"], ["frontdesk@head", "app@head"]):
        done = flask("db", "merge", *revisions)
        assert (done.returncode, "flask db upgrade heads" in done.stderr) == (1, True)
    assert (sorted((folder / "migrations").rglob("*.py")), package_files(quick_python)) == (
        files,
        before,
    )
    # Two developers wrote a migration at the same time.
    [mine] = (each.stem.partition("_")[0] for each in files if each.stem.endswith("_mine"))
    for rev in ("one", "two"):
        done = flask("db", "revision", "--rev-id", rev, "--head", mine, "--splice", "-m", rev)
        assert done.returncode == 0, done.stderr
    for words in (["merge", "one", "two"], ["upgrade", "heads"], ["migrate"], ["check"]):
        done = flask("db", *words)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
    assert package_files(quick_python) == before


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_env_of_an_application_without_frontdesk_says_what_to_do(
    flask: Flask, folder: Path
) -> None:
    for words in steps()[:2]:
        assert flask(*words).returncode == 0
    (folder / "after.py").rename(folder / "app.py")
    done = flask("db", "upgrade", "heads")
    assert done.returncode == 1
    assert "has no Frontdesk" in done.stderr
    assert "flask db init" in done.stderr


def test_application_changes_from_its_own_history_to_the_version_location(flask: Flask) -> None:
    for words in (
        ["db", "init"],
        ["db", "migrate", "-m", "all"],
        ["db", "upgrade"],
        ["frontdesk", "migrations", "init"],
        ["db", "stamp", "frontdesk@head"],
        ["db", "migrate", "-m", "compare"],
        ["db", "upgrade", "heads"],
        ["db", "check"],
    ):
        done = flask(*words)
        assert done.returncode == 0, (words, done.stdout, done.stderr)


_FILL = """
from sqlalchemy import text
from app import Account, Note, create_app, db, frontdesk

with create_app().app_context():
    for number in range(20):
        ada = frontdesk.accounts.create(f"ada{number}@example.com", "correct horse", name="Ada")
        workspace = db.session.scalar(text("SELECT max(id) FROM frontdesk_workspaces"))
        db.session.add(Note(account_id=ada.id, workspace_id=workspace, text="A lamp"))
        db.session.commit()
    frontdesk.notify("Welcome", "To all", channels=["inapp"])
"""
_LEFT = """
from sqlalchemy import inspect, select
from app import Account, Note, create_app, db

with create_app().app_context():
    accounts = db.session.scalars(select(Account)).all()
    notes = db.session.scalars(select(Note)).all()
    assert len(accounts) == len(notes) == 20
    assert {account.name for account in accounts} == {"Ada"}
    assert all(note.workspace_id for note in notes)
    assert accounts[0].has_password("correct horse")
    assert not accounts[0].has_password("wrong")
    assert sorted(inspect(db.engine).get_table_names()) == ["accounts", "alembic_version", "notes"]
"""


@pytest.mark.parametrize("history", ["own", "separate"])
def test_frontdesk_can_be_removed_and_accounts_passwords_and_other_tables_stay(
    flask: Flask, folder: Path, quick_python: str, url: str, history: str
) -> None:
    def succeed(*words: str) -> None:
        done = flask("db", *words)
        assert done.returncode == 0, (words, done.stdout, done.stderr)

    if history == "own":
        succeed("init")
        succeed("migrate", "-m", "all")
        succeed("upgrade")
    else:
        for words in steps()[:-1]:
            assert flask(*words).returncode == 0
    run("-c", _FILL, python=quick_python, cwd=folder, DATABASE_URL=url)
    succeed("revision", "-m", "remove frontdesk")
    [file] = (folder / "migrations" / "versions").glob("*_remove_frontdesk.py")
    body = (EXAMPLE / "remove.py").read_text().partition("# [remove]\n")[2]
    file.write_text(file.read_text().partition("def upgrade")[0] + body)
    succeed("upgrade", "heads")
    (folder / "after.py").rename(folder / "app.py")
    if history == "own":
        succeed("check")
    else:
        commands = folder / "commands" / "flask"
        commands.parent.mkdir()
        commands.write_text(f'#!/bin/sh\nexec {quick_python} -m flask "$@"\n')
        commands.chmod(0o755)
        path = f"{commands.parent}:{os.environ['PATH']}"
        done = subprocess.run(
            ["sh", "again.sh"],
            cwd=folder,
            env=bare_environment(DATABASE_URL=url, PATH=path),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    run("-c", _LEFT, python=quick_python, cwd=folder, DATABASE_URL=url)
