"""Marking 10,000 inbox rows of one account, compared with the raw `UPDATE`."""

import time

import psycopg

from bench import database
from bench.client import Client
from bench.database import Data
from bench.figures import Column, Goal, Table
from bench.options import Options
from bench.places import PASSWORD, WORKERS
from bench.requests import email
from bench.servers import Server, running

COLUMNS = (Column("ms", "ms", "{:.1f}"),)
PATH = "/api/v1/notifications/mark-all"
UPDATE = "UPDATE frontdesk_inbox SET is_read = true WHERE receiver_id = %s"
READERS = 40


def measure(options: Options) -> list[Table]:
    each = 1_000 if options.quick else 10_000
    data = Data("frontdesk_bench_marks", accounts=1_000, readers=READERS, each=each)
    database.prepare(data)
    goals = (Goal("ms", 1.2, ("raw",), at_least=False),)
    table = Table(f"Mark all of {each:,}", "raw", COLUMNS, goals)
    rounds = min(options.rounds * 2, READERS // 2 - 1)
    service = options.contenders("frontdesk")
    with psycopg.connect(data.url, autocommit=True) as connection:
        _unread(connection)
        # Write to every page once: the first write to a page after a checkpoint costs more.
        _raw(connection, READERS)
        if not service:
            for number in range(rounds):
                table.add("raw", {"ms": _raw(connection, number + 1) * 1e3}, "raw UPDATE")
            return [table]
        with running(service[0], data) as server:
            headers = _headers(server, rounds)
            # Every connection reads the table before the measurement.
            for turn in range(8 * WORKERS):
                status = "true" if turn % 2 else "false"
                Client(server.port).expect(200, "PATCH", f"{PATH}?status={status}", headers[rounds])
            for number in range(rounds):
                # Each side has its own accounts with unread rows.
                mine, its = number + 1, READERS - 1 - number
                seconds = _service(server, connection, headers[number], mine, each)
                table.add("raw", {"ms": _raw(connection, its) * 1e3}, "raw UPDATE")
                table.add("frontdesk", {"ms": seconds * 1e3}, service[0].title)
    return [table]


def _headers(server: Server, rounds: int) -> list[str]:
    client = Client(server.port)
    return [
        f"Authorization: Bearer {client.login(email(number), PASSWORD)}"
        for number in range(1, rounds + 2)
    ]


def _service(
    server: Server, connection: psycopg.Connection, header: str, account: int, rows: int
) -> float:
    seconds = Client(server.port).expect(200, "PATCH", f"{PATH}?status=true", header).seconds
    marked = connection.execute(
        "SELECT count(*) FROM frontdesk_inbox WHERE receiver_id = %s AND is_read", (account,)
    ).fetchone()
    if marked != (rows,):
        raise RuntimeError(f"{marked} rows are marked, not {rows}")
    return seconds


def _raw(connection: psycopg.Connection, account: int) -> float:
    begin = time.perf_counter()
    connection.execute(UPDATE, (account,))
    return time.perf_counter() - begin


def _unread(connection: psycopg.Connection) -> None:
    connection.execute("UPDATE frontdesk_inbox SET is_read = false WHERE is_read")
    connection.execute("VACUUM ANALYZE frontdesk_inbox")
    connection.execute("CHECKPOINT")
