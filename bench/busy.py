"""A service with a lot of data for the console's pages: a million accounts, and many rows of each
kind for the account that requests them."""

import hashlib
import uuid
from base64 import urlsafe_b64encode

import psycopg

from bench import database
from bench.database import Data

BUSY = Data("frontdesk_bench_console", accounts=1_000_000, readers=100, each=100)
SMALL = Data("frontdesk_bench_console_small", accounts=10_000, readers=100, each=100)
# The first account is root. Its inbox has this many items, and it has sent as many.
ITEMS = 10_000
_SESSION, _SECRET = uuid.UUID(int=1), b"s" * 32
COOKIE = "__Host-fd=" + urlsafe_b64encode(_SESSION.bytes + _SECRET).decode()

_TO_ROOT = """
WITH made AS (
    INSERT INTO frontdesk_notifications
        (title, message, channels, sender_id, notification_type, scope, receivers, created_at)
    SELECT 'Message number ' || n, 'What message number ' || n || ' says.', '["inapp"]', 1,
        'admin', 'account', 1, now() - n * interval '10 minutes'
    FROM generate_series(%(items)s, 1, -1) n RETURNING id
)
INSERT INTO frontdesk_inbox (notification_id, receiver_id, is_read)
SELECT id, 1, id %% 3 = 0 FROM made ORDER BY id
"""
_TO_ALL = """
INSERT INTO frontdesk_notifications
    (title, message, channels, sender_id, notification_type, scope, receivers, created_at)
VALUES ('To everyone', 'By mail too.', '["inapp", "email", "sms"]', 1, 'admin', 'account',
    %(accounts)s, now() - interval '1 hour') RETURNING id
"""
_INBOX = """
INSERT INTO frontdesk_inbox (notification_id, receiver_id, is_read)
SELECT %(id)s, id, id %% 3 = 0 FROM accounts
"""
_OUTGOING = """
INSERT INTO frontdesk_outgoing_messages (subject_kind, subject_id, title, message, created_at)
VALUES ('notification', %(id)s, 'To everyone', 'By mail too.', now() - interval '1 hour')
RETURNING id
"""
# Pending deliveries become due after the bench, so that no worker claims them.
_DELIVERIES = """
INSERT INTO frontdesk_deliveries
    (outgoing_id, receiver_id, channel, lane, state, attempts, due_at, reason, finished_at)
SELECT %(id)s, id, 'email', 1,
    CASE WHEN id %% 100 = 0 THEN 'failed' WHEN id %% 100 < 10 THEN 'pending' ELSE 'sent' END,
    1, CASE WHEN id %% 100 BETWEEN 1 AND 9 THEN now() + interval '1 year' ELSE now() END,
    CASE WHEN id %% 100 = 0 THEN '550 no such mailbox' END,
    CASE WHEN id %% 100 BETWEEN 1 AND 9 THEN NULL ELSE now() END
FROM accounts
"""
# A million audit log entries of the last month, most of them sign-ins.
_EVENTS = """
INSERT INTO frontdesk_events (type, at, actor_kind, actor_id, account_id, address, data)
SELECT CASE n %% 20 WHEN 0 THEN 'access.refused' WHEN 1 THEN 'login.refused'
        ELSE 'login.succeeded' END,
    now() - (%(accounts)s - n) * interval '1 month' / %(accounts)s, 'account',
    1 + n %% %(accounts)s, 1 + n %% %(accounts)s, '192.0.2.0', '{}'
FROM generate_series(1, %(accounts)s) n
"""
_WORKSPACES = """
WITH made AS (
    INSERT INTO frontdesk_workspaces (slug, name, is_default, is_personal, created_at)
    SELECT 'team-' || n, 'Team number ' || n, false, false, now()
    FROM generate_series(1, 20) n
    RETURNING id
)
INSERT INTO frontdesk_workspace_members (workspace_id, account_id, type, status, created_at)
SELECT made.id, accounts.id, CASE WHEN accounts.id = 1 THEN 'owner' ELSE 'member' END, 'active',
    now() FROM made CROSS JOIN accounts WHERE accounts.id <= 500
"""
_SIGNED_IN = """
INSERT INTO frontdesk_sessions (public_id, account_id, kind, secret, counter, amr,
    authenticated_at, created_at, used_at, expires_at)
VALUES (%s, 1, 'cookie', %s, 0, 'pwd', now(), now(), now(), now() + interval '1 day')
ON CONFLICT (public_id) DO UPDATE SET authenticated_at = now(), created_at = now(),
    used_at = now(), expires_at = now() + interval '1 day', ended_at = NULL
"""
_OTHER_SESSIONS = """
INSERT INTO frontdesk_sessions (public_id, account_id, kind, secret, counter, amr,
    authenticated_at, created_at, used_at, expires_at, user_agent)
SELECT gen_random_uuid(), 1, 'cookie', decode(repeat('00', 32), 'hex'), 0, 'pwd', now(), now(),
    now(), now() + interval '1 day', 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0'
FROM generate_series(1, 20)
"""


def prepare(data: Data) -> None:
    """Create and fill the database unless an earlier run left the same one; sign in the first
    account."""
    database.prepare(data)
    with psycopg.connect(data.url, autocommit=True) as connection:
        filled = connection.execute("SELECT 1 FROM frontdesk_deliveries LIMIT 1").fetchone()
        if filled is None:
            print(f"furnishing {data.name}", flush=True)
            with connection.transaction():
                _fill(connection, data)
            database.settle(data)
        digest = hashlib.sha256(_SECRET).digest()
        connection.execute(_SIGNED_IN, (_SESSION, digest))


def _fill(connection: psycopg.Connection, data: Data) -> None:
    numbers = {"accounts": data.accounts, "items": ITEMS}
    connection.execute("UPDATE accounts SET role = 'root' WHERE id = 1")
    connection.execute(_TO_ROOT, numbers)
    to_all = _insert(connection, _TO_ALL, numbers)
    connection.execute(_INBOX, {"id": to_all})
    connection.execute(_DELIVERIES, {"id": _insert(connection, _OUTGOING, {"id": to_all})})
    connection.execute(_EVENTS, numbers)
    connection.execute(_WORKSPACES)
    connection.execute(_OTHER_SESSIONS)


def _insert(connection: psycopg.Connection, statement: str, values: dict[str, int]) -> int:
    row = connection.execute(statement, values).fetchone()
    if row is None:
        raise RuntimeError("nothing was made")
    return int(row[0])


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
        }
