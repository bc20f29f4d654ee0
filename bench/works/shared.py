"""Shared broadcasts: the time to send one to a million accounts, and an inbox page with 100 unread
ones compared with inbox rows."""

import contextlib
import time
from statistics import median

import psycopg

from bench import balance, database, load
from bench.client import Client
from bench.database import Data
from bench.figures import Column, Goal, Table
from bench.options import Options
from bench.places import WORKERS
from bench.requests import credentials, get, pages
from bench.servers import CONTENDERS, running
from bench.timing import timed
from bench.works.growth import CALLERS, MANY_ACCOUNTS, SMALL

SENDS = Column("ms", "ms", "{:.1f}")
PAGE = (
    Column("p50", "p50 ms", "{:.2f}"),
    Column("cpu", "server CPU µs"),
    Column("database", "database CPU µs"),
)
MOST_MS = 100.0
UNREAD = 100
FORMS = {
    form: Data(f"frontdesk_bench_broadcasts_{form}", accounts=1_000, readers=0, each=0)
    for form in ("rows", "shared")
}


def measure(options: Options) -> list[Table]:
    return [_sending(options), _pages(options)]


def _form(form: str) -> dict[str, str]:
    return {"NOTIFICATIONS__BROADCASTS": form}


def _send(port: int, header: str) -> float:
    body = {"data": {"title": "A title", "message": "A message.", "channels": ["inapp"]}}
    return Client(port).expect(201, "POST", "/api/v1/admin/notifications/", header, body).seconds


def _sending(options: Options) -> Table:
    data, contender = SMALL if options.quick else MANY_ACCOUNTS, CONTENDERS["frontdesk"]
    database.prepare(data)
    table = Table(f"Shared broadcast to {data.accounts:,}", "", (SENDS,))
    with (
        psycopg.connect(data.url, autocommit=True) as connection,
        running(contender, data, _form("shared")) as server,
    ):
        [(before,)] = connection.execute("SELECT max(id) FROM frontdesk_notifications")
        [boss] = credentials(contender, data, server, 1)
        for _ in range(4 * WORKERS):
            _send(server.port, boss)
        for _ in range(options.rounds * 10):
            begin = time.perf_counter()
            connection.execute("SELECT count(*) FROM accounts")
            raw = time.perf_counter() - begin
            table.add("raw", {"ms": raw * 1e3}, "raw count of all accounts")
            table.add("frontdesk", {"ms": _send(server.port, boss) * 1e3}, contender.title)
        connection.execute("DELETE FROM frontdesk_notifications WHERE id > %s", (before,))
    database.settle(data)
    sent = median(figures["ms"] for figures in table.rounds["frontdesk"])
    verdict = "reached" if sent <= MOST_MS else "MISSED"
    table.remarks.append(f"- {verdict}: {sent:.1f} ms (at most {MOST_MS:g})")
    return table


def _pages(options: Options) -> Table:
    """Send the same broadcasts in both forms, and request the pages in turns."""
    contender = CONTENDERS["frontdesk"]
    goal = Goal("p50", 1.1, ("rows",), at_least=False, who="shared")
    table = Table(f"Inbox page of 50 with {UNREAD} unread broadcasts", "rows", PAGE, (goal,))
    with contextlib.ExitStack() as stack:
        turns = []
        for form, data in FORMS.items():
            database.prepare(data)
            with psycopg.connect(data.url, autocommit=True) as connection:
                connection.execute("TRUNCATE frontdesk_notifications CASCADE")
            server = stack.enter_context(running(contender, data, _form(form)))
            headers = credentials(contender, data, server, CALLERS)
            for _ in range(UNREAD):
                _send(server.port, headers[0])
            database.settle(data)
            answer = Client(server.port).expect(200, "GET", contender.inbox, headers[-1])
            if len(answer.body) != 50:
                raise RuntimeError(f"{form}: {len(answer.body)} items, not 50")
            probe = get(contender.account, headers[0], keep=True)
            sockets = balance.connections(server, probe, 1, WORKERS)
            requests = pages(contender.inbox, headers, keep=True)
            load.run(server.port, requests, seconds=1.0, sockets=sockets)
            turns.append((form, data, server, requests, sockets))
        for _ in range(options.rounds * 2):
            for form, data, server, requests, sockets in turns:
                figures = timed(server, data, requests, options.seconds / 2, sockets)
                table.add(form, figures, "inbox rows" if form == "rows" else "shared broadcasts")
        for *_, sockets in turns:
            for sock in sockets:
                sock.close()
    return table
