"""The databases of the bench: created once, filled with SQL, and reused while the schema is
unchanged."""

import contextlib
import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import bcrypt
import psycopg
from psycopg import sql

from bench.places import BENCH, PASSWORD, POSTGRES, REDIS, ROOT, SECRET, database_url

# Increase it when the data below changes, so that the databases of older runs are created again.
EDITION = "1"

# Values for the columns that exist; other columns keep their defaults.
ACCOUNT_VALUES = {
    "email": "'account' || n || '@bench.example'",
    "password_hash": "%(password_hash)s",
    "status": "'active'",
    "role": "CASE WHEN n = 1 THEN 'admin' ELSE 'user' END",
    "phone": "'+4930' || (1000000 + n)",
    "created_at": "%(epoch)s::timestamptz",
    "updated_at": "%(epoch)s::timestamptz",
}
NOTIFICATION_VALUES = {
    "title": "'Notification number ' || n",
    "message": "'The message of notification number ' || n || repeat(', which goes on', 6) || '.'",
    "channels": "'[\"inapp\"]'",
    "sender_id": "1",
    "notification_type": "'admin'",
    "scope": "'account'",
    "created_at": "%(epoch)s::timestamptz + n * interval '1 minute'",
    "updated_at": "%(epoch)s::timestamptz + n * interval '1 minute'",
}
INBOX_VALUES = {
    "notification_id": "n.id",
    "receiver_id": "a.id",
    "is_read": "false",
    "created_at": "n.created_at",
    "updated_at": "n.created_at",
}
EPOCH = "2025-01-01T00:00:00+00:00"


@dataclass(frozen=True)
class Data:
    """The size of a database: the first `readers` accounts have `each` inbox rows."""

    name: str
    accounts: int
    readers: int
    each: int

    @property
    def url(self) -> str:
        return database_url(self.name)


BASE = Data("frontdesk_bench", accounts=10_000, readers=10_000, each=100)


def prepare(data: Data) -> None:
    """Create and fill the database unless an earlier run left the same one."""
    mark = _fingerprint(data)
    with psycopg.connect(f"{POSTGRES}/postgres", autocommit=True) as server:
        if _mark_of(server, data.name) == mark:
            return
        print(f"filling {data.name}: {data.accounts:,} accounts, ", end="", flush=True)
        print(f"{data.readers * data.each:,} inbox rows", flush=True)
        name = sql.Identifier(data.name)
        server.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))
        server.execute(sql.SQL("CREATE DATABASE {}").format(name))
        _make_tables(data)
        _fill(data)
        server.execute(sql.SQL("COMMENT ON DATABASE {} IS {}").format(name, sql.Literal(mark)))


def settle(data: Data) -> None:
    """Run VACUUM and CHECKPOINT, so that neither starts during a measurement."""
    with psycopg.connect(data.url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
        connection.execute("CHECKPOINT")


def drop_all() -> None:
    """Drop all databases of the bench."""
    with psycopg.connect(f"{POSTGRES}/postgres", autocommit=True) as server:
        names = server.execute(
            "SELECT datname FROM pg_database WHERE datname LIKE %s", (rf"{BASE.name}%",)
        ).fetchall()
        for (name,) in names:
            print(f"dropping {name}")
            statement = sql.SQL("DROP DATABASE {} WITH (FORCE)")
            server.execute(statement.format(sql.Identifier(name)))


def service_environment(data: Data) -> dict[str, str]:
    """Return the variables of the service, with only the essential variables of the shell."""
    inherited = {
        key: os.environ[key] for key in ("PATH", "HOME", "LANG", "TZ") if key in os.environ
    }
    return inherited | {
        "SECRET_KEY": SECRET,
        "CORE__DATABASE_URL": data.url.replace("postgresql://", "postgresql+psycopg://"),
        "CORE__REDIS_URL": REDIS,
        "CORE__EMAILS_ENABLED": "false",
    }


def migrated() -> bool:
    """Return whether the service can create its tables."""
    return (ROOT / "wsgi.py").exists() and any((ROOT / "migrations").rglob("versions/*.py"))


def _fingerprint(data: Data) -> str:
    sources = [BENCH / "schema.sql", *sorted((ROOT / "migrations").rglob("versions/*.py"))]
    digest = hashlib.sha256(f"{EDITION} {data}".encode())
    for source in sources:
        digest.update(source.read_bytes())
    return digest.hexdigest()


def _mark_of(server: psycopg.Connection, name: str) -> str | None:
    row = server.execute(
        "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = %s", (name,)
    ).fetchone()
    return None if row is None else row[0]


def _make_tables(data: Data) -> None:
    if migrated():
        command = [sys.executable, "-m", "flask", "--app", "wsgi", "db", "upgrade"]
        subprocess.run(
            command, cwd=ROOT, env=service_environment(data), check=True, capture_output=True
        )
    with psycopg.connect(data.url) as connection:
        if connection.execute("SELECT to_regclass('frontdesk_inbox')").fetchone() == (None,):
            connection.execute((BENCH / "schema.sql").read_bytes())


def _fill(data: Data) -> None:
    # All accounts have the same hash, which does not change the cost of a login.
    values = {
        "password_hash": bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(12)).decode(),
        "epoch": EPOCH,
        "accounts": data.accounts,
        "readers": data.readers,
        "each": data.each,
    }
    accounts = "FROM generate_series(1, %(accounts)s) n"
    notifications = "FROM generate_series(1, %(each)s) n"
    # Ordered by notification, as broadcasts are stored: the rows of one account are far apart.
    inbox = (
        "FROM frontdesk_notifications n CROSS JOIN accounts a"
        " WHERE a.id <= %(readers)s ORDER BY n.id, a.id"
    )
    with psycopg.connect(data.url) as connection:
        _insert(connection, "accounts", ACCOUNT_VALUES, accounts, values)
        _insert(connection, "frontdesk_notifications", NOTIFICATION_VALUES, notifications, values)
        _insert(connection, "frontdesk_inbox", INBOX_VALUES, inbox, values)
    settle(data)


@contextlib.contextmanager
def without_indexes(connection: psycopg.Connection, table: str) -> Iterator[None]:
    """Create the table's indexes after its rows, and check no foreign key: for ten million rows,
    both would take many times as long as the rows. Indexes of constraints stay."""
    found = connection.execute(
        "SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index"
        " WHERE indrelid = %s::regclass AND NOT EXISTS"
        " (SELECT FROM pg_constraint WHERE conindid = indexrelid)",
        (table,),
    ).fetchall()
    connection.execute("SET LOCAL session_replication_role = replica")
    connection.execute("SET LOCAL maintenance_work_mem = '512MB'")
    for name, _ in found:
        connection.execute(f"DROP INDEX {name}".encode())
    yield
    for _, definition in found:
        connection.execute(definition.encode())


def _insert(
    connection: psycopg.Connection,
    table: str,
    expressions: dict[str, str],
    rows: str,
    values: dict[str, object],
) -> None:
    present = {
        name
        for (name,) in connection.execute(
            "SELECT column_name FROM information_schema.columns"
            " WHERE table_schema = 'public' AND table_name = %s",
            (table,),
        )
    }
    columns = [name for name in expressions if name in present]
    chosen = ", ".join(expressions[name] for name in columns)
    statement = f"INSERT INTO {table} ({', '.join(columns)}) SELECT {chosen} {rows}"
    with without_indexes(connection, table):
        connection.execute(statement.encode(), values)
