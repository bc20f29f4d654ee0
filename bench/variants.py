"""The caller's account with several settings of the service, measured in many short turns, because
the differences are small."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from bench import balance, checks, database, load
from bench.database import BASE, Data
from bench.figures import Column, Goal, Table
from bench.options import Options
from bench.places import WORKERS
from bench.requests import get, pages
from bench.servers import Server, running
from bench.timing import timed

CALLERS = 500
COLUMNS = (
    Column("rate", "requests/s"),
    Column("p50", "p50 ms", "{:.2f}"),
    Column("cpu", "server CPU µs"),
    Column("database", "database CPU µs"),
)


class Variant(NamedTuple):
    name: str
    title: str
    settings: Mapping[str, str]
    # Returns a header line for each caller.
    credentials: Callable[[Server, Data], list[str]]


def compare(title: str, variants: Sequence[Variant], options: Options) -> list[Table]:
    """Run all variants at once. Each must reach 0.95 of the rate of the first."""
    database.prepare(BASE)
    first, *others = (each.name for each in variants)
    goals = tuple(Goal("rate", 0.95, (first,), at_least=True, who=name) for name in others)
    table = Table(title, first, COLUMNS, goals)
    for contender in options.contenders("frontdesk"):
        with contextlib.ExitStack() as stack:
            turns = []
            for variant in variants:
                server = stack.enter_context(running(contender, BASE, variant.settings))
                headers = variant.credentials(server, BASE)
                checks.check(contender, BASE, server, headers, inbox=False)
                probe = get(contender.account, headers[0], keep=True)
                sockets = balance.connections(server, probe, 1, WORKERS)
                requests = pages(contender.account, headers, keep=True)
                load.run(server.port, requests, seconds=1.0, sockets=sockets)
                turns.append((variant, server, requests, sockets))
            for number in range(options.rounds * 2):
                print(f"{table.title}, turn {number + 1}", flush=True)
                for variant, server, requests, sockets in turns:
                    figures = timed(server, BASE, requests, options.seconds / 2, sockets)
                    table.add(variant.name, figures, variant.title)
            for *_, sockets in turns:
                for sock in sockets:
                    sock.close()
    return [table]
