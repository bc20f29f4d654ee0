"""The examples, each run in a copy of its folder with the installed wheel."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from ..rigs.backends import free_port, postgres_database
from ..rigs.installed import run
from ..rigs.servers import ROOT, bare_environment

EXAMPLES = ROOT / "examples"
PAGE = ROOT / "docs" / "tutorial.md"


# Plugins of this project's environment. Readers do not have them, and one takes seconds to load.
UNUSED_PLUGINS = ("schemathesis", "hypothesispytest", "anyio", "xdist", "xdist.looponfail")
OPTIONS = ("-q", *(f"-pno:{plugin}" for plugin in ("cacheprovider", *UNUSED_PLUGINS)))


def run_tests_of(example: str, python: str, tmp_path: Path, **environment: str) -> None:
    folder = shutil.copytree(EXAMPLES / example, tmp_path / example)
    run("-m", "pytest", *OPTIONS, python=python, cwd=folder, **environment)


def test_list_of_examples_is_complete_and_its_links_exist() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", (EXAMPLES / "README.md").read_text())
    assert [link for link in links if not (EXAMPLES / link).exists()] == []
    folders = {f"{each.name}/" for each in EXAMPLES.iterdir() if each.is_dir()}
    assert {link for link in links if not link.startswith("..")} == folders


@pytest.mark.parametrize(
    "example",
    [
        "quickstart",
        "everything",
        "move_users",
        "flask_login_pages",
        "trusted_proxy",
        "console_pages",
        "cookie_pages",
        "subdomains",
        "import_users",
        "inbox",
        "programs",
        "verify_tokens",
    ],
)
def test_example_passes_its_tests(example: str, python: str, tmp_path: Path) -> None:
    run_tests_of(example, python, tmp_path)


# Both runs share a process, because most of the time goes into imports.
_ON_BOTH = """
import os, sys
import pytest

url, *options = sys.argv[1:]
for database, variables in (("SQLite", {}), ("PostgreSQL", {"TEST_DATABASE_URL": url})):
    os.environ.update(variables)
    print(f"On {database}:", flush=True)
    if code := pytest.main(options):
        sys.exit(code)
"""


@pytest.mark.parametrize(
    "example",
    [
        "server_rendered",
        "column_mapping",
        "tutorial",
        "async_views",
        "existing_users",
        "sqlalchemy_lite",
    ],
)
def test_example_passes_its_tests_on_both_databases(
    example: str, python: str, tmp_path: Path
) -> None:
    folder = shutil.copytree(EXAMPLES / example, tmp_path / example)
    with postgres_database(f"frontdesk_{example}_{os.getpid()}") as url:
        output = run("-c", _ON_BOTH, url, *OPTIONS, python=python, cwd=folder)
    assert output.index("On SQLite:") < output.index("On PostgreSQL:")


def commands_path(folder: Path, python: str) -> str:
    """Return a PATH with a `flask` command, which the copied packages lack."""
    flask = folder / "commands" / "flask"
    flask.parent.mkdir()
    flask.write_text(f'#!/bin/sh\nexec {python} -m flask "$@"\n')
    flask.chmod(0o755)
    return f"{flask.parent}:{Path(python).parent}:{os.environ['PATH']}"


def test_commands_of_the_tutorial_work(quick_python: str, tmp_path: Path) -> None:
    folder = shutil.copytree(EXAMPLES / "tutorial", tmp_path / "pinboard-app")
    shutil.copy(folder / "pinboard" / "__init__.py", folder / "final.py")
    steps = folder / "steps.sh"
    steps.write_text(steps.read_text().replace("5000", str(free_port())))
    (log := folder / "server.log").write_text("")
    output = subprocess.run(
        ["sh", steps.name],
        cwd=folder,
        env=bare_environment(PATH=commands_path(folder, quick_python)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert output.returncode == 0, output.stdout + output.stderr + log.read_text()
    assert '"text":"Water the plants"' in output.stdout
    assert re.search(r'{"id":1,"author_id".*}\n\[{"id":1,"author_id".*}\]$', output.stdout, re.M)
    for message in re.findall(r'^{"message":".*"}$', PAGE.read_text(), re.M):
        assert message in output.stdout
    mails = [mail.read_text() for mail in (folder / "instance" / "outbox").glob("*.eml")]
    assert mails
    assert all("ada@example.com" in mail for mail in mails)


def test_quickstart_prints_what_the_pages_show(python: str, tmp_path: Path) -> None:
    folder = shutil.copytree(EXAMPLES / "quickstart", tmp_path / "quickstart")
    steps = folder / "steps.sh"
    steps.write_text(steps.read_text().replace("8000", str(free_port())))
    environment = bare_environment(PATH=commands_path(folder, python))
    code, printed = run_on_terminal(["sh", steps.name], folder, environment)
    assert code == 0, printed
    of_the_account, _, shown = outputs("docs/quickstart.md")
    assert outputs("README.md") == [shown]
    time = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d")
    assert time.sub("", printed) == time.sub("", of_the_account + shown.rstrip())


def run_on_terminal(words: list[str], folder: Path, environment: dict[str, str]) -> tuple[int, str]:
    """Return the exit code and what a reader sees: on a terminal, commands print tables."""
    terminal, end = os.openpty()
    process = subprocess.Popen(words, cwd=folder, env=environment, stdout=end, stderr=end)
    os.close(end)
    printed = b""
    # Reading fails after the last program has closed the terminal.
    with suppress(OSError):
        while part := os.read(terminal, 4096):
            printed += part
    os.close(terminal)
    return process.wait(), printed.decode().replace("\r\n", "\n")


def outputs(page: str) -> list[str]:
    """Return the outputs that a page shows."""
    return re.findall(r"^```text\n(.*?)^```$", (ROOT / page).read_text(), re.M | re.S)


_ROWS = 5_000
_BEFORE = f"""
import os, uuid
import sqlalchemy as sa
from werkzeug.security import generate_password_hash

metadata = sa.MetaData()
users = sa.Table(
    "users", metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("email", sa.String(320), unique=True, nullable=False),
    sa.Column("pw_hash", sa.String(255)),
    sa.Column("name", sa.String(100), nullable=False),
)
notes = sa.Table(
    "notes", metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("user_id", sa.ForeignKey("users.id", ondelete="CASCADE"), nullable=False),
    sa.Column("text", sa.String(100), nullable=False),
)
hashed = generate_password_hash("the old password", method="scrypt:1024:8:1")
people = [
    dict(id=uuid.uuid4(), email=f"user{{n}}@example.com", pw_hash=hashed, name=f"User {{n}}")
    for n in range({_ROWS})
]
engine = sa.create_engine(os.environ["DATABASE_URL"])
with engine.begin() as connection:
    metadata.create_all(connection)
    connection.execute(users.insert(), people)
    texts = [dict(user_id=each["id"], text="Water the plants") for each in people]
    connection.execute(notes.insert(), texts)
"""
_AFTER = """
from app import Note, User, create_app, db

app = create_app()
form = {"username": "User4999@example.com", "password": "the old password"}
for _ in range(2):
    response = app.test_client().post("/api/login", data=form)
    assert response.status_code == 200, response.text
with app.app_context():
    count = lambda model: db.session.query(model).count()
    waiting = {user.status for user in db.session.query(User)}
    print(count(User), count(Note), waiting, {user.role for user in db.session.query(User)})
"""


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
@pytest.mark.parametrize("steps", ["own-history.sh", "separate-history.sh"])
def test_commands_of_the_guide_keep_the_rows_of_an_existing_table(
    quick_python: str, tmp_path: Path, steps: str, database: str
) -> None:
    folder = shutil.copytree(EXAMPLES / "existing_users", tmp_path / "existing_users")
    with postgres_database(f"frontdesk_rows_{os.getpid()}") as url:
        if database == "sqlite":
            url = f"sqlite:///{tmp_path / 'pinboard.db'}"
        run("-c", _BEFORE, python=quick_python, cwd=folder, DATABASE_URL=url)
        output = subprocess.run(
            ["sh", steps],
            cwd=folder,
            env=bare_environment(PATH=commands_path(folder, quick_python), DATABASE_URL=url),
            capture_output=True,
            text=True,
            check=False,
        )
        assert output.returncode == 0, output.stdout + output.stderr
        *before, last = output.stdout.strip().splitlines()
        assert "0 errors" in last, output.stdout
        if steps == "separate-history.sh":
            assert "The database lacks users.created_at" in "\n".join(before)
        after = run("-c", _AFTER, python=quick_python, cwd=folder, DATABASE_URL=url)
    assert after.split("\n")[-2] == f"{_ROWS} {_ROWS} {{'active'}} {{'user'}}"


def test_user_import_example_works_on_postgresql(python: str, tmp_path: Path) -> None:
    with postgres_database(f"frontdesk_moved_{os.getpid()}") as url:
        run_tests_of("move_users", python, tmp_path, TEST_DATABASE_URL=url)


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


_MIGRATE = [["db", "init"], ["db", "migrate", "-m", "accounts"], ["db", "upgrade"]]
_CHECK = [["db", "check"], ["frontdesk", "doctor"]]
_RUN_COMMANDS = """
import sys
from ast import literal_eval
from wsgi import app

for words in literal_eval(sys.argv[1]):
    done = app.test_cli_runner().invoke(args=words)
    print(done.output)
    assert done.exit_code == 0, done
"""


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_migrations_of_the_application_work_on_both_databases(
    database: str, quick_python: str, tmp_path: Path
) -> None:
    """A migration that `flask db migrate` generates on one database works on the other."""
    folder = shutil.copytree(EXAMPLES / "quickstart", tmp_path / "quickstart")
    app = folder / "app.py"
    app.write_text(app.read_text().replace("        db.create_all()\n", "        pass\n"))
    (folder / "wsgi.py").write_text(_WITH_MIGRATIONS)

    def flask(url: str, *commands: list[str]) -> str:
        return run(
            "-c", _RUN_COMMANDS, str(commands), python=quick_python, cwd=folder, DATABASE_URL=url
        )

    sqlite = f"sqlite:///{tmp_path / 'host.db'}"
    with postgres_database(f"frontdesk_history_{os.getpid()}") as postgresql:
        first, second = sqlite, postgresql
        if database == "postgresql":
            first, second = second, first
        flask(first, *_MIGRATE)
        # Another process checks the database than the one that created it.
        checked = [flask(first, *_CHECK), flask(second, _MIGRATE[-1]) + flask(second, *_CHECK)]
    for output in checked:
        assert "No new upgrade operations" in output
        assert "0 errors" in output
    (migration,) = (folder / "migrations" / "versions").glob("*.py")
    assert "flask_frontdesk" not in migration.read_text()
