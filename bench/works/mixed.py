"""A mixed load for some minutes: neither memory nor latency may grow."""

import json
import random

from bench import database, load, proc
from bench.database import Data
from bench.figures import Column, Goal, Table
from bench.options import Options
from bench.places import HOST, PASSWORD
from bench.requests import credentials, email, get, login
from bench.servers import Contender, Server, running

COLUMNS = (
    Column("rate", "requests/s"),
    Column("p50", "p50 ms", "{:.1f}"),
    Column("p99", "p99 ms", "{:.1f}"),
    Column("mib", "memory of all workers, MiB"),
)
# A separate database, because the writes would change what other benchmarks read.
DATA = Data("frontdesk_bench_mixed", accounts=10_000, readers=1_000, each=100)
SLICES = 10
CALLERS = 1_000


def measure(options: Options) -> list[Table]:
    database.prepare(DATA)
    names = ("frontdesk",) if options.contenders("frontdesk") else ("limit",)
    return [_run(options, contender) for contender in options.contenders(*names)]


def _run(options: Options, contender: Contender) -> Table:
    first, last = "slice 1", f"slice {SLICES}"
    goals = (
        Goal("mib", 1.1, (first,), at_least=False, who=last),
        Goal("p99", 1.5, (first,), at_least=False, who=last),
    )
    table = Table(f"Mixed load, {contender.title}", first, COLUMNS, goals)
    seconds = options.minutes * 60 / SLICES
    with running(contender, DATA) as server:
        requests = _mix(contender, server)
        load.run(server.port, requests, seconds=min(seconds, 20.0))
        for number in range(1, SLICES + 1):
            print(f"Mixed load, slice {number} of {SLICES}", flush=True)
            result = load.run(server.port, requests, seconds=seconds)
            if result.errors:
                raise RuntimeError(f"{result.errors} answers were errors")
            table.add(
                f"slice {number}",
                {
                    "rate": result.rate,
                    "p50": result.percentile(0.5) * 1e3,
                    "p99": result.percentile(0.99) * 1e3,
                    "mib": sum(proc.memory_mib(pid) for pid in server.workers()),
                },
            )
    return table


def _mix(contender: Contender, server: Server) -> list[bytes]:
    """Return a thousand requests: mostly reads, some writes, one login, one notification to ten
    accounts."""
    headers = credentials(contender, DATA, server, CALLERS)
    chance = random.Random(1)
    callers = [chance.choice(headers) for _ in range(CALLERS)]
    reads = [get(contender.account, header, keep=False) for header in callers[:600]]
    reads += [get(contender.inbox, header, keep=False) for header in callers[600:900]]
    if contender.is_service:
        reads += [
            _write("PATCH", f"/api/v1/notifications/{n % 100 + 1}/mark", header)
            for n, header in enumerate(callers[900:990])
        ]
        reads += [
            _write("PATCH", "/api/v1/notifications/mark-all", header) for header in callers[990:996]
        ]
        reads.append(login(email(10), PASSWORD))
        receivers = "&".join(f"account_receiver_ids={n}" for n in range(2, 12))
        body = {"data": {"title": "Mixed", "message": "A message.", "channels": ["inapp"]}}
        path = f"/api/v1/admin/notifications/?{receivers}"
        reads.append(_write("POST", path, headers[0], json.dumps(body)))
    chance.shuffle(reads)
    return reads


def _write(method: str, path: str, header: str, body: str = "") -> bytes:
    kind = "Content-Type: application/json\r\n" if body else ""
    return (
        f"{method} {path} HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n{header}\r\n"
        f"{kind}Content-Length: {len(body)}\r\n\r\n{body}"
    ).encode()
