"""The two most frequent reads, with keep-alive connections and with a connection for each
request."""

from bench import balance, checks, database, load
from bench.database import BASE
from bench.figures import Column, Goal, Table
from bench.options import Options
from bench.places import WORKERS
from bench.requests import credentials, get, pages
from bench.servers import Contender, running
from bench.timing import timed

CALLERS = 500
COLUMNS = (
    Column("rate", "requests/s"),
    Column("p50", "p50 ms", "{:.1f}"),
    Column("p99", "p99 ms", "{:.1f}"),
    Column("cpu", "server CPU µs"),
    Column("database", "database CPU µs"),
)
GRANIAN = "frontdesk_granian"
PEERS = ("security", "fastapi_users", "drf", "usual")


def measure(
    options: Options, work: str, title: str, peer_factor: float, granian_factor: float
) -> list[Table]:
    database.prepare(BASE)
    goals = (
        Goal("rate", 0.85, ("limit",), at_least=True),
        Goal("p99", 1.5, ("limit",), at_least=False),
        Goal("cpu", 1.2, ("limit",), at_least=False),
        Goal("rate", peer_factor, PEERS, at_least=True),
        Goal("rate", granian_factor, ("frontdesk",), at_least=True, who=GRANIAN),
        Goal("rate", 0.7, ("blacksheep",), at_least=True, who=GRANIAN),
    )
    kept = Table(f"{title}, kept connections", "limit", COLUMNS, goals)
    single = Table(f"{title}, one connection for each request", "limit", COLUMNS, goals)
    shares = []
    for number in range(options.rounds):
        for contender in options.contenders():
            print(f"{title}, round {number + 1}: {contender.title}", flush=True)
            first, second = _turn(contender, work, options.seconds)
            kept.add(contender.name, first, contender.title)
            single.add(contender.name, second, contender.title)
            shares.append(first["load"] / first["cpu"])
    kept.remarks.append(f"The load generator costs {max(shares):.0%} of the server's CPU at most.")
    return [kept, single]


def _turn(
    contender: Contender, work: str, seconds: float
) -> tuple[dict[str, float], dict[str, float]]:
    """Start a new server for each turn, so that the spread shows the differences between
    processes."""
    with running(contender, BASE) as server:
        headers = credentials(contender, BASE, server, CALLERS)
        checks.check(contender, BASE, server, headers, inbox=work == "inbox")
        path = contender.account if work == "account" else contender.inbox
        probe = get(contender.account, headers[0], keep=True)
        requests = pages(path, headers, keep=True)
        sockets = balance.connections(server, probe, 8, WORKERS)
        load.run(server.port, requests, seconds=min(1.0, seconds), sockets=sockets)
        first = timed(server, BASE, requests, seconds, sockets)
        for sock in sockets:
            sock.close()
        second = timed(server, BASE, pages(path, headers, keep=False), seconds)
    return first, second
