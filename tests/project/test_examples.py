"""The examples, run as their readers run them: with the wheel, each in its own folder."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from ..rigs.backends import free_port, postgres_database
from ..rigs.installed import run
from ..rigs.servers import ROOT, bare_environment

EXAMPLES = ROOT / "examples"
PAGE = ROOT / "docs" / "tutorial.md"


# Plugins of ours, which their readers need not have, would keep each waiting, one for seconds.
OURS = ("schemathesis", "hypothesispytest", "anyio", "xdist", "xdist.looponfail")
OPTIONS = ("-q", *(f"-pno:{plugin}" for plugin in ("cacheprovider", *OURS)))


def run_tests_of(example: str, python: str, tmp_path: Path, **environment: str) -> None:
    folder = shutil.copytree(EXAMPLES / example, tmp_path / example)
    run("-m", "pytest", *OPTIONS, python=python, cwd=folder, **environment)


@pytest.mark.parametrize(
    "example", ["smallest", "everything", "moved", "cookie", "desk", "pages", "subdomains"]
)
def test_an_example_passes_its_own_tests(example: str, python: str, tmp_path: Path) -> None:
    run_tests_of(example, python, tmp_path)


# The second run needs no process of its own: most of one's time is what it imports.
_ON_BOTH = """
import os, sys
import pytest

url, *options = sys.argv[1:]
for database, told in (("SQLite", {}), ("PostgreSQL", {"TEST_DATABASE_URL": url})):
    os.environ.update(told)
    print(f"On {database}:", flush=True)
    if code := pytest.main(options):
        sys.exit(code)
"""


@pytest.mark.parametrize("example", ["account", "existing", "saas", "concurrent", "users", "lite"])
def test_a_host_passes_its_own_tests_on_both_databases(
    example: str, python: str, tmp_path: Path
) -> None:
    folder = shutil.copytree(EXAMPLES / example, tmp_path / example)
    with postgres_database(f"frontdesk_{example}_{os.getpid()}") as url:
        said = run("-c", _ON_BOTH, url, *OPTIONS, python=python, cwd=folder)
    assert said.index("On SQLite:") < said.index("On PostgreSQL:")


def commands_path(folder: Path, python: str) -> str:
    """Return a PATH with a `flask` command, which the borrowed packages come without."""
    flask = folder / "commands" / "flask"
    flask.parent.mkdir()
    flask.write_text(f'#!/bin/sh\nexec {python} -m flask "$@"\n')
    flask.chmod(0o755)
    return f"{flask.parent}:{Path(python).parent}:{os.environ['PATH']}"


def test_what_the_tutorial_has_its_reader_type_works(python: str, tmp_path: Path) -> None:
    folder = shutil.copytree(EXAMPLES / "saas", tmp_path / "pinboard-app")
    shutil.copy(folder / "pinboard" / "__init__.py", folder / "final.py")
    steps = folder / "steps.sh"
    steps.write_text(steps.read_text().replace("5000", str(free_port())))
    (log := folder / "server.log").write_text("")
    said = subprocess.run(
        ["sh", steps.name],
        cwd=folder,
        env=bare_environment(PATH=commands_path(folder, python)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == 0, said.stdout + said.stderr + log.read_text()
    assert '"text":"Water the plants"' in said.stdout
    for message in re.findall(r'^{"message":".*"}$', PAGE.read_text(), re.M):
        assert message in said.stdout
    mails = [mail.read_text() for mail in (folder / "instance" / "outbox").glob("*.eml")]
    assert mails
    assert all("ada@example.com" in mail for mail in mails)


def test_quickstart_prints_what_the_pages_show(python: str, tmp_path: Path) -> None:
    folder = shutil.copytree(EXAMPLES / "smallest", tmp_path / "smallest")
    steps = folder / "steps.sh"
    steps.write_text(steps.read_text().replace("5000", str(free_port())))
    said = subprocess.run(
        ["sh", steps.name],
        cwd=folder,
        env=bare_environment(PATH=commands_path(folder, python)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == 0, said.stdout + said.stderr
    account, *calls = said.stdout.splitlines()
    [shown] = outputs("README.md")
    assert calls == shown.splitlines()
    of_the_account, _, shown = outputs("docs/quickstart.md")
    assert calls == shown.splitlines()
    assert json.loads(account).keys() == json.loads(of_the_account).keys()


def outputs(page: str) -> list[str]:
    """Return the outputs that a page shows."""
    return re.findall(r"^```text\n(.*?)^```$", (ROOT / page).read_text(), re.M | re.S)


_MANY = 5_000
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
orders = sa.Table(
    "orders", metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("user_id", sa.ForeignKey("users.id", ondelete="CASCADE"), nullable=False),
    sa.Column("what", sa.String(100), nullable=False),
)
hashed = generate_password_hash("the old password", method="scrypt:1024:8:1")
people = [
    dict(id=uuid.uuid4(), email=f"user{{n}}@example.com", pw_hash=hashed, name=f"User {{n}}")
    for n in range({_MANY})
]
engine = sa.create_engine(os.environ["DATABASE_URL"])
with engine.begin() as connection:
    metadata.create_all(connection)
    connection.execute(users.insert(), people)
    lamps = [dict(user_id=each["id"], what="A lamp") for each in people]
    connection.execute(orders.insert(), lamps)
"""
_AFTER = """
from app import Order, User, create_app, db

app = create_app()
form = {"username": "User4999@example.com", "password": "the old password"}
for _ in range(2):
    response = app.test_client().post("/api/login", data=form)
    assert response.status_code == 200, response.text
with app.app_context():
    count = lambda model: db.session.query(model).count()
    waiting = {user.status for user in db.session.query(User)}
    print(count(User), count(Order), waiting, {user.role for user in db.session.query(User)})
"""


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
@pytest.mark.parametrize("steps", ["own-history.sh", "history-beside.sh"])
def test_an_existing_table_with_rows_is_kept_by_the_commands_of_the_guide(
    python: str, tmp_path: Path, steps: str, database: str
) -> None:
    folder = shutil.copytree(EXAMPLES / "users", tmp_path / "users")
    with postgres_database(f"frontdesk_rows_{os.getpid()}") as url:
        if database == "sqlite":
            url = f"sqlite:///{tmp_path / 'shop.db'}"
        run("-c", _BEFORE, python=python, cwd=folder, DATABASE_URL=url)
        said = subprocess.run(
            ["sh", steps],
            cwd=folder,
            env=bare_environment(PATH=commands_path(folder, python), DATABASE_URL=url),
            capture_output=True,
            text=True,
            check=False,
        )
        assert said.returncode == 0, said.stdout + said.stderr
        *before, last = said.stdout.strip().splitlines()
        assert "0 errors" in last, said.stdout
        if steps == "history-beside.sh":
            assert "the database lacks users.created_at" in "\n".join(before)
        after = run("-c", _AFTER, python=python, cwd=folder, DATABASE_URL=url)
    assert after.split("\n")[-2] == f"{_MANY} {_MANY} {{'active'}} {{'user'}}"


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


_MAKING = [["db", "init"], ["db", "migrate", "-m", "accounts"], ["db", "upgrade"]]
_LOOKING = [["db", "check"], ["frontdesk", "doctor"]]
_AT_ONCE = """
import sys
from ast import literal_eval
from wsgi import app

for words in literal_eval(sys.argv[1]):
    done = app.test_cli_runner().invoke(args=words)
    print(done.output)
    assert done.exit_code == 0, done
"""


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_a_history_of_the_hosts_own_holds_our_tables_on_both_databases(
    database: str, python: str, tmp_path: Path
) -> None:
    """Whichever database `flask db migrate` ran on, the migration works on the other one too."""
    folder = shutil.copytree(EXAMPLES / "smallest", tmp_path / "smallest")
    app = folder / "app.py"
    app.write_text(app.read_text().replace("        db.create_all()\n", "        pass\n"))
    (folder / "wsgi.py").write_text(_WITH_MIGRATIONS)

    def flask(url: str, *commands: list[str]) -> str:
        return run("-c", _AT_ONCE, str(commands), python=python, cwd=folder, DATABASE_URL=url)

    sqlite = f"sqlite:///{tmp_path / 'host.db'}"
    with postgres_database(f"frontdesk_history_{os.getpid()}") as postgresql:
        first, second = sqlite, postgresql
        if database == "postgresql":
            first, second = second, first
        flask(first, *_MAKING)
        # What was made is looked at by a process that has not made it.
        looked = [flask(first, *_LOOKING), flask(second, _MAKING[-1]) + flask(second, *_LOOKING)]
    for said in looked:
        assert "No new upgrade operations" in said
        assert "0 errors" in said
    (migration,) = (folder / "migrations" / "versions").glob("*.py")
    assert "flask_frontdesk" not in migration.read_text()
