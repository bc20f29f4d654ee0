"""A service with a lot of data for the console's pages: a million accounts, and many rows of each
kind for the account that requests them (busy.sql)."""

import hashlib
import uuid
from base64 import urlsafe_b64encode

import psycopg

from bench import database
from bench.database import Data
from bench.places import BENCH

BUSY = Data("frontdesk_bench_console", accounts=1_000_000, readers=100, each=100)
SMALL = Data("frontdesk_bench_console_small", accounts=10_000, readers=100, each=100)
# The first account is root. Its inbox has this many items, and it has sent as many.
ITEMS = 10_000
_SESSION, _SECRET = uuid.UUID(int=1), b"s" * 32
COOKIE = "__Host-fd=" + urlsafe_b64encode(_SESSION.bytes + _SECRET).decode()

_SIGNED_IN = """
INSERT INTO frontdesk_sessions (public_id, account_id, kind, secret, counter, amr,
    authenticated_at, created_at, used_at, expires_at)
VALUES (%s, 1, 'cookie', %s, 0, 'pwd', now(), now(), now(), now() + interval '1 day')
ON CONFLICT (public_id) DO UPDATE SET authenticated_at = now(), created_at = now(),
    used_at = now(), expires_at = now() + interval '1 day', ended_at = NULL
"""


def prepare(data: Data) -> None:
    """Create and fill the database unless an earlier run left the same one."""
    database.prepare(data)
    with psycopg.connect(data.url, autocommit=True) as connection:
        filled = connection.execute("SELECT 1 FROM frontdesk_deliveries LIMIT 1").fetchone()
        if filled is None:
            print(f"furnishing {data.name}", flush=True)
            _fill(connection, data)
            database.settle(data)


def sign_in(data: Data) -> None:
    """Sign in the first account, or again: some pages need a recent sign-in."""
    with psycopg.connect(data.url, autocommit=True) as connection:
        digest = hashlib.sha256(_SECRET).digest()
        connection.execute(_SIGNED_IN, (_SESSION, digest))


def _fill(connection: psycopg.Connection, data: Data) -> None:
    # Binds the values itself: the file has many statements.
    with connection.transaction(), psycopg.ClientCursor(connection) as cursor:
        script = (BENCH / "busy.sql").read_bytes()
        cursor.execute(script, {"accounts": data.accounts, "items": ITEMS})
    # Without the space of the rows before the update.
    connection.execute("VACUUM FULL accounts")


def path_values(data: Data) -> dict[str, object]:
    """Return values for the variables of the pages' paths."""
    with psycopg.connect(data.url) as connection:

        def first(statement: str) -> object:
            row = connection.execute(statement).fetchone()
            return row[0] if row else 1

        return {
            "account_id": 1,
            "workspace_slug": "team-1",
            "notification_id": first("SELECT max(id) FROM frontdesk_notifications"),
            "item_id": first("SELECT max(id) FROM frontdesk_inbox WHERE receiver_id = 1"),
            "session_id": str(_SESSION),
            "name": "notification",
        }
