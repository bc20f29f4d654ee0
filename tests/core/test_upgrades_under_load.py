"""Upgrades from earlier releases while their code serves, and one step back.

The tests replay the statements that the old code sends, recorded once from its main routes, because
a shallow checkout has no history to run the old code from; see rigs/old_releases.py.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import psycopg

from ..conftest import PASSWORD, SECRET
from ..conftest import migrate as upgrade
from ..rigs.old_releases import old_code, old_database
from ..rigs.servers import checkout_environment, gunicorn
from ..rigs.traffic import Client, traffic

# The password of ada@example.com in each dump, and her workspace.
RELEASES = {"first_release": ("correct horse", "ada"), "revision_0025": (PASSWORD, "team")}
TYPE_CHANGED = "cached plan must not change result type"
# What blocks requests for as long as a large existing table takes to be read or written.
SLOW = re.compile(
    r"^(?:CREATE (?:UNIQUE )?INDEX (?!CONCURRENTLY)\S+ ON (?P<indexed>\w+)"
    r"|ALTER TABLE (?P<altered>\w+) (?:ALTER COLUMN|ADD CONSTRAINT)"
    r"|UPDATE (?!alembic_version)(?P<updated>\w+)|DELETE FROM (?P<emptied>\w+))",
    re.MULTILINE,
)


def migrate(url: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "flask", "--app", "wsgi", "db", *arguments],
        env=checkout_environment(SECRET_KEY=SECRET, CORE__DATABASE_URL=url),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def files_of_tables(url: str) -> dict[int, int]:
    """Return the file of each table by the table's id: a table that is rewritten gets another."""
    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        files = (
            "SELECT oid, relfilenode FROM pg_class"
            " WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
        )
        return dict(connection.execute(files).fetchall())


def use(release: str, port: int) -> None:
    """Read and write the data of the old release over HTTP."""
    password, workspace = RELEASES[release]
    ada = Client(port).sign_in("ada@example.com", password)
    assert ada.ask("GET", "/account")[1]["email"] == "ada@example.com"
    assert ada.ask("PATCH", "/account", {"locale": "en"})[0] == 200
    assert ada.ask("GET", "/notifications/")[0] == 200
    marked = ada.ask("PATCH", "/notifications/1/mark?status=true")[1]
    assert (marked["title"], marked["is_read"]) == ("Welcome", True)
    assert len(ada.ask("GET", f"/workspaces/{workspace}/members")[1]) == 2
    assert ada.ask("GET", "/profiles")[1]["first_name"] == "Ada"
    assert ada.ask("POST", "/tasks/", {"title": "Water the plants"})[0] == 201
    message = {"title": "Open", "message": "Again.", "channels": ["inapp", "email"]}
    assert ada.ask("POST", "/admin/notifications/", {"data": message})[0] == 201


def test_code_of_revision_0025_serves_during_the_upgrade_and_one_step_back(tmp_path: Path) -> None:
    release = "revision_0025"
    with old_database(release, "postgresql", tmp_path, "upgraded") as url:
        before = files_of_tables(url)
        with old_code(release, url) as old:
            migrate(url, "upgrade")
        assert old.errors == []
        assert files_of_tables(url).items() >= before.items()
        with gunicorn({"SECRET_KEY": SECRET, "CORE__DATABASE_URL": url}, tmp_path / "log") as port:
            use(release, port)
            anonymous = Client(port, "a.b.c")
            with old_code(release, url) as old, traffic(port, anonymous, anonymous) as ledger:
                migrate(url, "downgrade")
        assert old.errors == []
        assert ledger.statuses("health") == {200}
        assert ledger.statuses("write") == {201}
        assert ledger.statuses("account") == {401}


def test_code_of_the_first_release_serves_during_the_upgrade(tmp_path: Path) -> None:
    """Revision 0014 changes the type of a column, which fails one request of each connection."""
    release = "first_release"
    with old_database(release, "postgresql", tmp_path, "upgraded") as url:
        before = files_of_tables(url)
        with old_code(release, url) as old:
            migrate(url, "upgrade")
        failed = Counter(error.partition(":")[0] for error in old.errors)
        assert all(TYPE_CHANGED in error for error in old.errors), old.errors
        assert set(failed.values()) <= {1}, old.errors
        assert files_of_tables(url).items() >= before.items()
        with psycopg.connect(url.replace("+psycopg", "")) as connection:
            without_message = (
                "SELECT count(*) FROM frontdesk_notifications n WHERE NOT EXISTS"
                " (SELECT FROM frontdesk_outgoing_messages"
                " WHERE subject_kind = 'notification' AND subject_id = n.id)"
            )
            assert connection.execute(without_message).fetchone() == (0,)
        with gunicorn({"SECRET_KEY": SECRET, "CORE__DATABASE_URL": url}, tmp_path / "log") as port:
            use(release, port)


def test_sqlite_database_of_revision_0025_is_upgraded_and_taken_back_one_step(
    tmp_path: Path,
) -> None:
    release = "revision_0025"
    with old_database(release, "sqlite", tmp_path) as url:
        upgrade(url)
        migrate(url, "downgrade")
        upgrade(url)
        with gunicorn({"SECRET_KEY": SECRET, "CORE__DATABASE_URL": url}, tmp_path / "log") as port:
            use(release, port)


def test_migrations_after_0015_block_no_large_table(tmp_path: Path) -> None:
    """Offline mode prints the statements; it omits the indexes of the search, whose migration
    creates them concurrently."""
    with old_database("revision_0025", "postgresql", tmp_path, "offline") as url:
        printed = migrate(url, "upgrade", "--sql", "0015_unverified:head")
    created = set(re.findall(r"^CREATE TABLE (\w+)", printed, re.MULTILINE))
    blocking = [
        found[0]
        for found in SLOW.finditer(printed)
        if not created.intersection(filter(None, found.groups()))
    ]
    assert blocking == []
    assert "CREATE INDEX CONCURRENTLY ix_accounts_email ON accounts" in printed
