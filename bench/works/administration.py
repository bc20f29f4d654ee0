"""The administrators' list with a million accounts: 15 ms for a page with any query."""

import random
from statistics import median
from urllib.parse import urlencode

from bench import balance, database, load
from bench.database import BASE
from bench.figures import Column, Table
from bench.options import Options
from bench.places import WORKERS
from bench.requests import credentials, email, get
from bench.servers import CONTENDERS, running
from bench.timing import timed
from bench.works.growth import MANY_ACCOUNTS

COLUMNS = (
    Column("p50", "p50 ms", "{:.2f}"),
    Column("p99", "p99 ms", "{:.2f}"),
    Column("cpu", "server CPU µs"),
    Column("database", "database CPU µs"),
)
MOST_MS = 15.0
VARIANTS = 200


def measure(options: Options) -> list[Table]:
    data, contender = BASE if options.quick else MANY_ACCOUNTS, CONTENDERS["frontdesk"]
    database.prepare(data)
    table = Table(f"Administrators among {data.accounts:,} accounts", "the newest", COLUMNS)
    with running(contender, data) as server:
        [boss] = credentials(contender, data, server, 1)
        probe = get(contender.account, boss, keep=True)
        sockets = balance.connections(server, probe, 1, WORKERS)
        asked = {
            name: [
                get(f"/api/v1/admin/accounts?{urlencode(query)}", boss, keep=True)
                for query in queries
            ]
            for name, queries in _queries(data.accounts).items()
        }
        for requests in asked.values():
            load.run(server.port, requests, seconds=0.5, sockets=sockets)
        for number in range(options.rounds):
            print(f"{table.title}, round {number + 1}", flush=True)
            for name, requests in asked.items():
                table.add(name, timed(server, data, requests, options.seconds / 2, sockets))
        for sock in sockets:
            sock.close()
    worst = {name: median(each["p99"] for each in rounds) for name, rounds in table.rounds.items()}
    slowest = max(worst, key=lambda name: worst[name])
    verdict = "reached" if worst[slowest] <= MOST_MS else "MISSED"
    table.remarks.append(
        f"- {verdict}: p99 {worst[slowest]:.1f} ms at the most ({slowest}; at most {MOST_MS:g})"
    )
    return [table]


def _queries(accounts: int) -> dict[str, list[dict[str, object]]]:
    """Return each query with several values, so that no response is cached."""
    some = random.Random(1).sample(range(1, accounts + 1), VARIANTS)
    asked: dict[str, list[dict[str, object]]] = {
        "the newest": [{}],
        "by address": [{"sort": "email"}],
        "the oldest sign-in": [{"sort": "last_login_date"}],
        "behind ten thousand": [{"offset": 9_900}],
        "a beginning": [{"search": email(each)[:10]} for each in some],
        "an address": [{"search": email(each)} for each in some],
        "an id": [{"search": each} for each in some],
        "a phone number": [{"search": f"+4930{1_000_000 + each}"} for each in some],
        "the admins": [{"role": "admin"}],
        "the suspended": [{"status": "suspended"}],
        "unverified": [{"verified": "false"}],
    }
    return {name: [{"limit": 50, **each} for each in queries] for name, queries in asked.items()}
