"""The same reads in small and in large tables: data of other accounts must not slow down the
caller."""

import contextlib

from bench import balance, checks, database, load
from bench.database import BASE, Data
from bench.figures import Column, Goal, Table
from bench.options import Options
from bench.places import WORKERS
from bench.requests import credentials, get, pages
from bench.servers import Contender, running
from bench.timing import timed

COLUMNS = (
    Column("p50", "p50 ms", "{:.2f}"),
    Column("cpu", "server CPU µs"),
    Column("database", "database CPU µs"),
)
# Every database has these callers, each with the same hundred rows.
CALLERS = 100
SMALL = Data("frontdesk_bench_small", accounts=1_000, readers=100, each=100)
MANY_ACCOUNTS = Data("frontdesk_bench_many", accounts=1_000_000, readers=100, each=100)
TEN_MILLION = Data("frontdesk_bench_10m", accounts=100_000, readers=100_000, each=100)


def measure(options: Options) -> list[Table]:
    inboxes = {"10 thousand rows": SMALL, "1 million rows": BASE}
    if options.ten_million:
        inboxes["10 million rows"] = TEN_MILLION
    accounts = {"1 thousand accounts": SMALL}
    accounts |= {"10 thousand accounts": BASE} if options.quick else {}
    accounts |= {} if options.quick else {"1 million accounts": MANY_ACCOUNTS}
    tables = []
    for contender in options.contenders("limit", "frontdesk"):
        tables.append(_compare(options, contender, "Inbox page", "inbox", inboxes))
        tables.append(_compare(options, contender, "Account read", "account", accounts))
    return tables


def _compare(
    options: Options, contender: Contender, title: str, work: str, sizes: dict[str, Data]
) -> Table:
    """Run all sizes at once and measure in many short turns, because the differences are small."""
    small, *larger = sizes
    goals = tuple(Goal("p50", 1.1, (small,), at_least=False, who=name) for name in larger)
    table = Table(f"{title} as tables grow, {contender.title}", small, COLUMNS, goals)
    print(table.title, flush=True)
    for data in sizes.values():
        database.prepare(data)
    with contextlib.ExitStack() as stack:
        turns = []
        for name, data in sizes.items():
            server = stack.enter_context(running(contender, data))
            headers = credentials(contender, data, server, CALLERS)
            checks.check(contender, data, server, headers, inbox=work == "inbox")
            path = contender.account if work == "account" else contender.inbox
            probe = get(contender.account, headers[0], keep=True)
            # Two connections keep both workers busy without a queue.
            sockets = balance.connections(server, probe, 1, WORKERS)
            requests = pages(path, headers, keep=True)
            load.run(server.port, requests, seconds=1.0, sockets=sockets)
            turns.append((name, data, server, requests, sockets))
        for _ in range(options.rounds * 2):
            for name, data, server, requests, sockets in turns:
                table.add(name, timed(server, data, requests, options.seconds / 2, sockets))
        for *_, sockets in turns:
            for sock in sockets:
                sock.close()
    return table
