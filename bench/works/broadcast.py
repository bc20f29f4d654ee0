"""A notification to every account, compared with one raw `INSERT … SELECT` of the same rows; stored
by the request and by a worker."""

import time

import psycopg

from bench import database, proc
from bench.client import Client
from bench.database import Data
from bench.figures import Column, Goal, Table
from bench.options import Options
from bench.places import PASSWORD
from bench.requests import email
from bench.servers import Contender, running

COLUMNS = (Column("ms", "ms"),)
LARGE = (Column("ms", "ms until the response"), Column("stored", "ms until all rows are stored"))
MEMORY = (Column("mib", "most memory of a worker, MiB"),)

NOTIFICATION = """
INSERT INTO frontdesk_notifications
    (title, message, channels, sender_id, notification_type, scope, created_at)
VALUES (%s, %s, '["inapp"]', 1, 'admin', 'account', now()) RETURNING id
"""
INBOX = """
INSERT INTO frontdesk_inbox (notification_id, receiver_id, is_read)
SELECT %s, id, false FROM accounts
"""


def measure(options: Options) -> list[Table]:
    receivers = 20_000 if options.quick else 200_000
    data = Data("frontdesk_bench_broadcast", accounts=receivers, readers=0, each=0)
    database.prepare(data)
    goals = (Goal("ms", 1.2, ("raw",), at_least=False),)
    table = Table(f"Broadcast to {receivers:,}", "raw", COLUMNS, goals)
    large = Table(f"Broadcast to {receivers:,}, expanded by a worker", "frontdesk", LARGE)
    with psycopg.connect(data.url, autocommit=True) as connection:
        # The first insert after a start extends files and fills caches, which would distort the
        # comparison.
        _raw(connection)
        for number in range(options.rounds):
            print(f"Broadcast, round {number + 1}", flush=True)
            _empty(connection)
            table.add("raw", {"ms": _raw(connection) * 1e3}, "raw INSERT … SELECT")
            for contender in options.contenders("frontdesk"):
                _empty(connection)
                seconds, _ = _service(contender, data, connection, receivers, receivers)
                table.add(contender.name, {"ms": seconds * 1e3}, contender.title)
                _empty(connection)
                seconds, stored = _service(contender, data, connection, receivers, 10_000)
                figures = {"ms": seconds * 1e3, "stored": stored * 1e3}
                large.add(contender.name, figures, contender.title)
        _empty(connection)
    tables = [table, large]
    if options.contenders("frontdesk"):
        tables.append(_memory(options, data))
    return tables


def _raw(connection: psycopg.Connection) -> float:
    begin = time.perf_counter()
    with connection.transaction():
        row = connection.execute(NOTIFICATION, ("A title", "A message.")).fetchone()
        connection.execute(INBOX, row)
    return time.perf_counter() - begin


def _service(
    contender: Contender, data: Data, connection: psycopg.Connection, receivers: int, inline: int
) -> tuple[float, float]:
    """Return the seconds until the response, and until all rows are stored."""
    with running(contender, data, _inline(inline)) as server:
        header = _admin(server.port)
        begin = time.perf_counter()
        seconds = _send(server.port, header)
        while connection.execute("SELECT 1 FROM frontdesk_expansions").fetchone():
            time.sleep(0.01)
        until_stored = time.perf_counter() - begin
        stored = connection.execute("SELECT count(*) FROM frontdesk_inbox").fetchone()
        if stored != (receivers,):
            raise RuntimeError(f"{stored} inbox rows, not {receivers}")
    return seconds, until_stored


def _inline(receivers: int) -> dict[str, str]:
    return {"NOTIFICATIONS__INLINE_RECEIVERS": str(receivers)}


def _memory(options: Options, data: Data) -> Table:
    """Compare a worker that has sent to all accounts with one that has sent to ten: its memory must
    not grow."""
    goals = (Goal("mib", 1.1, ("few",), at_least=False, who="all"),)
    table = Table("Memory of a broadcast", "few", MEMORY, goals)
    (contender,) = options.contenders("frontdesk")
    for name, query in (("few", _ids(range(1, 11))), ("all", "")):
        with running(contender, data, _inline(data.accounts)) as server:
            header = _admin(server.port)
            for _ in range(4):
                _send(server.port, header, query)
            most = max(proc.memory_mib(pid, "VmHWM") for pid in server.workers())
        table.add(name, {"mib": most}, "to 10 accounts" if name == "few" else "to all accounts")
    with psycopg.connect(data.url, autocommit=True) as connection:
        _empty(connection)
    return table


def _ids(numbers: range) -> str:
    return "?" + "&".join(f"account_receiver_ids={number}" for number in numbers)


def _admin(port: int) -> str:
    return "Authorization: Bearer " + Client(port).login(email(1), PASSWORD)


def _send(port: int, header: str, query: str = "") -> float:
    body = {"data": {"title": "A title", "message": "A message.", "channels": ["inapp"]}}
    path = f"/api/v1/admin/notifications/{query}"
    return Client(port).expect(201, "POST", path, header, body).seconds


def _empty(connection: psycopg.Connection) -> None:
    connection.execute("TRUNCATE frontdesk_notifications, frontdesk_inbox CASCADE")
