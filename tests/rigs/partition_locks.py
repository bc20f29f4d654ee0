"""How long requests wait while the inbox is partitioned online.

`python -m tests.rigs.partition_locks --rows 1000000` prints the figures of docs/scale.md: how long
the table is locked when the copy takes its name, and the longest statements of a reader and a
writer with pauses of ten milliseconds.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any, NamedTuple

from app import create_app
from app.core.db.partitioning.online import OnlineCopy
from config import Settings

from ..conftest import SECRET, migrate
from .backends import postgres_database
from .partitions import connect, run

# The rows of each account.
EACH = 100
PAUSE_SECONDS = 0.01
ACCOUNTS = """
INSERT INTO accounts (email, status, role, created_at)
SELECT i || '@example.com', 'active', 'user', now() FROM generate_series(1, %s) AS i
"""
NOTIFICATIONS = """
INSERT INTO frontdesk_notifications
    (title, message, channels, notification_type, scope, receivers, created_at)
SELECT 'Hello', 'World', '[]', 'admin', 'account', 0, now() FROM generate_series(1, %s)
"""
INBOX = """
INSERT INTO frontdesk_inbox (notification_id, receiver_id)
SELECT n.id, a.id FROM frontdesk_notifications n CROSS JOIN accounts a
"""
READ = "SELECT * FROM frontdesk_inbox WHERE receiver_id = %s ORDER BY id DESC LIMIT 20"
WRITE = "UPDATE frontdesk_inbox SET is_read = NOT is_read WHERE receiver_id = %s AND id %% 50 = 1"


class Statement(NamedTuple):
    at: float
    seconds: float


def repeat(url: str, sql: str, accounts: int, stop: Event) -> list[Statement]:
    """Execute a statement for one account after another until the end."""
    done = []
    with connect(url) as connection:
        while not stop.is_set():
            account = random.randint(1, accounts)
            at = time.monotonic()
            connection.execute(sql, [account])
            done.append(Statement(at, time.monotonic() - at))
            stop.wait(PAUSE_SECONDS)
    return done


class Swaps:
    """Measures the attempts to lock the table and to rename the copy."""

    def __init__(self) -> None:
        self.begun: list[float] = []
        self.seconds = 0.0
        self._swap = OnlineCopy._swap
        self._execute: Callable[[OnlineCopy, str], None] = OnlineCopy._run

    def measure(self, copy: OnlineCopy) -> None:
        self.begun.append(time.monotonic())
        self._swap(copy)
        self.seconds = time.monotonic() - self.locked_at

    def execute(self, copy: OnlineCopy, sql: str) -> None:
        self._execute(copy, sql)
        if sql.startswith("LOCK TABLE"):
            self.locked_at = time.monotonic()


def fill(url: str, rows: int) -> None:
    migrate(url)
    with connect(url) as connection:
        connection.execute(ACCOUNTS, [rows // EACH])
        connection.execute(NOTIFICATIONS, [EACH])
        connection.execute(INBOX)
        connection.execute("VACUUM ANALYZE")


def measure(url: str, rows: int, parts: int) -> None:
    settings: Any = Settings(SECRET_KEY=SECRET, CORE={"DATABASE_URL": url, "LOG_LEVEL": "ERROR"})
    app, stop, swaps = create_app(settings), Event(), Swaps()
    OnlineCopy._swap = lambda self: swaps.measure(self)  # type: ignore[method-assign]
    OnlineCopy._run = lambda self, sql: swaps.execute(self, sql)  # type: ignore[method-assign]
    with ThreadPoolExecutor(2) as threads:
        users = {
            name: threads.submit(repeat, url, sql, rows // EACH, stop)
            for name, sql in (("reader", READ), ("writer", WRITE))
        }
        time.sleep(5)
        begun = time.monotonic()
        try:
            run(app, "frontdesk", "partition", "inbox", "--parts", str(parts))
        finally:
            seconds = time.monotonic() - begun
            time.sleep(5)
            stop.set()
    print(f"{rows:,} rows in {parts} partitions: {seconds:.0f} s")
    print(f"locked for {swaps.seconds * 1e3:.0f} ms, in attempt {len(swaps.begun)}")
    for name, user in users.items():
        _print(name, user.result(), begun, begun + seconds, swaps.begun)


def _print(
    name: str, done: list[Statement], begun: float, ended: float, swaps: list[float]
) -> None:
    before = [each.seconds * 1e3 for each in done if each.at < begun]
    during = [each for each in done if begun <= each.at < ended]
    longest = max(during, key=lambda each: each.seconds)
    at_swap = [
        each.seconds * 1e3
        for each in during
        if each.at < ended and each.at + each.seconds >= swaps[0]
    ]
    print(
        f"{name}: {len(during):,} statements, median {statistics.median(before):.1f} ms before and"
        f" {statistics.median(each.seconds for each in during) * 1e3:.1f} ms during the work;"
        f" longest {longest.seconds * 1e3:.0f} ms, {longest.at - begun:.1f} s after its begin;"
        f" longest from the first attempt to lock on {max(at_swap):.0f} ms"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--parts", type=int, default=32)
    options = parser.parse_args()
    with postgres_database(f"frontdesk_partition_locks_{os.getpid()}") as url:
        fill(url, options.rows)
        measure(url, options.rows, options.parts)


if __name__ == "__main__":
    main()
