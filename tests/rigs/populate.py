"""Databases with very many rows, made by the database itself."""

from __future__ import annotations

from sqlalchemy import Connection, text

_ACCOUNTS = """
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :accounts)
INSERT INTO accounts (email, status, role, created_at)
SELECT 'account' || i || '@example.com', 'active', 'user', '2025-01-01 00:00:00+00:00' FROM n
"""
_NOTIFICATIONS = """
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :each)
INSERT INTO frontdesk_notifications
(title, message, channels, notification_type, scope, receivers, created_at)
SELECT 'Title ' || i, 'Message ' || i, '["inapp"]', 'system', 'account', :accounts,
'2025-01-01 00:00:00+00:00' FROM n
"""
_INBOX = """
INSERT INTO frontdesk_inbox (notification_id, receiver_id, is_read)
SELECT n.id, a.id, false FROM frontdesk_notifications n CROSS JOIN accounts a
"""


def add_accounts(connection: Connection, count: int) -> None:
    """account1@example.com and so on."""
    connection.execute(text(_ACCOUNTS), {"accounts": count})
    connection.commit()


def populate(connection: Connection, accounts: int, each: int) -> None:
    """So many accounts, each with so many inbox rows."""
    numbers = {"accounts": accounts, "each": each}
    connection.execute(text(_ACCOUNTS), numbers)
    connection.execute(text(_NOTIFICATIONS), numbers)
    connection.execute(text(_INBOX))
    connection.commit()
