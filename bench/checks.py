"""Checks before each measurement: responses must equal the rows of the tables."""

from datetime import datetime
from typing import Any

import psycopg
from psycopg.rows import dict_row

from bench.client import Client
from bench.database import Data
from bench.servers import Contender, Server

ACCOUNT = """
SELECT id, email, status, role, phone, last_login_date, current_workspace_id, created_at
FROM accounts WHERE id = %s
"""
INBOX = """
SELECT i.id, i.notification_id, i.receiver_id, i.is_read, n.title, n.message, n.channels,
       n.sender_id, n.notification_type, n.scope, n.created_at
FROM frontdesk_inbox i JOIN frontdesk_notifications n ON n.id = i.notification_id
WHERE i.receiver_id = %s ORDER BY i.id DESC LIMIT 50
"""


def check(
    contender: Contender, data: Data, server: Server, headers: list[str], *, inbox: bool
) -> None:
    """Check the responses for two accounts, and the rejection of a forged credential."""
    client = Client(server.port)
    with psycopg.connect(data.url, row_factory=dict_row) as connection:
        for number in (2, len(headers)):
            header = headers[number - 1]
            account = connection.execute(ACCOUNT, (number,)).fetchone()
            answer = client.expect(200, "GET", contender.account, header).body
            _same(contender, answer, account)
            if not inbox:
                continue
            items = connection.execute(INBOX, (number,)).fetchall()
            page = client.expect(200, "GET", contender.inbox, header).body
            if len(page) != len(items) or not items:
                raise RuntimeError(f"{contender.name}: {len(page)} items, not {len(items)}")
            for got, expected in zip(page, items, strict=True):
                _same(contender, got, expected)
    forged = headers[0][:-4] + "AAAA"
    # Flask-JWT-Extended returns 422 where the others return 401.
    if client.ask("GET", contender.account, forged).status not in (401, 422):
        raise RuntimeError(f"{contender.name} accepts a forged credential")


def _same(contender: Contender, got: dict[str, Any], expected: dict[str, Any] | None) -> None:
    for field, value in (expected or {}).items():
        actual = got[field]
        if isinstance(value, datetime) and actual is not None:
            actual = datetime.fromisoformat(actual)
        # The bench's own sign-in changes this field.
        if actual != value and field != "last_login_date":
            raise RuntimeError(f"{contender.name}: {field} is {actual!r}, not {value!r}")
