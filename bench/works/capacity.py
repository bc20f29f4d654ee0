"""What one core handles at 10 thousand, 1 million and (`--ten-million`) 10 million accounts.

Requests per second and core are calculated from the processor time of the web workers and of their
database connections, which other load on the machine hardly changes: 1 second / time of a request.
"""

from collections.abc import Sequence

import psycopg

from bench import balance, database, load, proc
from bench.database import Data, without_indexes
from bench.figures import Column, Table
from bench.options import Options
from bench.places import PASSWORD, WORKERS
from bench.requests import credentials, email, get, login, pages
from bench.servers import CONTENDERS, Server, running
from bench.timing import timed

SMALL = Data("frontdesk_bench_capacity_10k", accounts=10_000, readers=10_000, each=100)
MEDIUM = Data("frontdesk_bench_capacity_1m", accounts=1_000_000, readers=100_000, each=100)
LARGE = Data("frontdesk_bench_capacity_10m", accounts=10_000_000, readers=200_000, each=100)
CALLERS = 2_000
SEARCHES = 200
SIGN_INS = 100

COLUMNS = (
    Column("core", "requests/s and core", "{:.1f}"),
    Column("cpu", "web CPU µs"),
    Column("database", "database CPU µs"),
)
PROFILES = """
INSERT INTO frontdesk_profiles
    (account_id, first_name, last_name, city, country, bio, extra, created_at, updated_at)
SELECT id, 'First' || id % 5000, 'Last' || id % 50000, 'City ' || id % 1000, 'Country',
    repeat('A line of a biography. ', 3), '{}', created_at, created_at
FROM accounts ORDER BY id
"""
SIZES = """
SELECT relname, pg_size_pretty(pg_total_relation_size(oid)) FROM pg_class
WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
ORDER BY pg_total_relation_size(oid) DESC LIMIT 3
"""


def measure(options: Options) -> list[Table]:
    sizes = [SMALL] if options.quick else [SMALL, MEDIUM]
    return [_measure(options, data) for data in sizes + [LARGE] * options.ten_million]


def _measure(options: Options, data: Data) -> Table:
    contender = CONTENDERS["frontdesk"]
    database.prepare(data)
    _add_profiles(data)
    rows = f"{data.accounts:,} accounts, {data.readers * data.each:,} inbox rows"
    table = Table(f"Capacity, {rows}", "account read", COLUMNS)
    with running(contender, data) as server:
        headers = credentials(contender, data, server, CALLERS)
        probe = get(contender.account, headers[0], keep=True)
        sockets = balance.connections(server, probe, 8, WORKERS)
        works = {
            "account read": pages(contender.account, headers, keep=True),
            "inbox page of 50": pages(contender.inbox, headers, keep=True),
            "account search by part of the address": _searches(data, headers[0]),
        }
        for requests in works.values():
            load.run(server.port, requests, seconds=1.0, sockets=sockets)
        for number in range(options.rounds):
            print(f"{table.title}, round {number + 1}", flush=True)
            for name, requests in works.items():
                _add(table, name, timed(server, data, requests, options.seconds, sockets))
        sign_ins = [login(email(n), PASSWORD) for n in range(1, SIGN_INS + 1)]
        seconds = options.seconds * options.rounds
        _add(table, "sign-in", timed(server, data, sign_ins, seconds))
        for sock in sockets:
            sock.close()
        table.remarks += [_memory(server), _disk(data)]
    return table


def _add(table: Table, name: str, figures: dict[str, float]) -> None:
    core = 1e6 / (figures["cpu"] + figures["database"])
    table.add(name, figures | {"core": core})


def _searches(data: Data, header: str) -> list[bytes]:
    """Return searches for the middle of different addresses, which one account or few have."""
    step = data.accounts // SEARCHES
    texts = (f"unt{number}@" for number in range(step, data.accounts + 1, step))
    return [get(f"/api/v1/admin/accounts?limit=50&search={each}", header, keep=True)
            for each in texts]  # fmt: skip


def _add_profiles(data: Data) -> None:
    with psycopg.connect(data.url) as connection:
        if connection.execute("SELECT FROM frontdesk_profiles LIMIT 1").fetchone() is not None:
            return
        with without_indexes(connection, "frontdesk_profiles"):
            connection.execute(PROFILES.encode())
    database.settle(data)


def _memory(server: Server) -> str:
    workers: Sequence[int] = server.workers()[:WORKERS]
    own = max(proc.own_mib(pid) for pid in workers)
    resident = max(proc.memory_mib(pid) for pid in workers)
    return (
        f"- Memory of a web worker: {own:.0f} MiB of its own and its part of shared pages,"
        f" {resident:.0f} MiB resident"
    )


def _disk(data: Data) -> str:
    with psycopg.connect(data.url) as connection:
        [(total,)] = connection.execute(
            "SELECT pg_size_pretty(pg_database_size(current_database()))"
        ).fetchall()
        tables = ", ".join(f"{name} {size}" for name, size in connection.execute(SIZES))
    return f"- PostgreSQL: {total} ({tables}, with indexes)"
