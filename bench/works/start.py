"""The time from the command to the first response, and the memory of a worker after it."""

import contextlib
import http.client
import time
from collections.abc import Mapping

from bench import database, load, proc, servers
from bench.database import BASE, Data
from bench.figures import Column, Goal, Table
from bench.options import Options
from bench.places import HOST
from bench.requests import credentials, pages
from bench.servers import Contender

COLUMNS = (
    Column("ms", "ms to the first answer"),
    Column("resident", "worker, MiB resident", "{:.1f}"),
    Column("own", "worker, MiB not shared", "{:.1f}"),
)
LARGEST = 80.0


def measure(options: Options) -> list[Table]:
    database.prepare(BASE)
    goals = (Goal("ms", 1.6, ("limit",), at_least=False),)
    table = Table("Start", "limit", COLUMNS, goals)
    contenders = options.contenders("limit", "usual", "frontdesk")
    headers = {contender.name: warm(contender) for contender in contenders}
    for number in range(options.rounds):
        print(f"Start, round {number + 1}", flush=True)
        for contender in contenders:
            table.add(contender.name, start(contender, headers[contender.name]), contender.title)
    for figures in table.rounds.get("frontdesk", [])[:1]:
        verdict = "reached" if figures["resident"] < LARGEST else "MISSED"
        table.remarks.append(
            f"- {verdict}: a worker of {figures['resident']:.0f} MiB (under {LARGEST:.0f})"
        )
    return [table]


def warm(contender: Contender) -> list[str]:
    """Compile everything once and get the credentials."""
    with servers.running(contender, BASE) as server:
        return credentials(contender, BASE, server, 50)


def start(
    contender: Contender,
    headers: list[str],
    data: Data = BASE,
    extra: Mapping[str, str] | None = None,
) -> dict[str, float]:
    begin = time.perf_counter()
    server = servers.launch(contender, data, extra)
    try:
        _first_answer(server, contender.account, headers[0])
        seconds = time.perf_counter() - begin
        load.run(server.port, pages(contender.account, headers, keep=False), seconds=30, count=500)
        workers = server.workers()
        return {
            "ms": seconds * 1e3,
            "resident": max(proc.memory_mib(pid) for pid in workers),
            "own": max(proc.own_mib(pid) for pid in workers),
        }
    finally:
        servers.stop(server)


def _first_answer(server: servers.Server, path: str, header: str) -> None:
    name, _, value = header.partition(": ")
    deadline = time.monotonic() + servers.START_LIMIT
    while time.monotonic() < deadline and server.process.poll() is None:
        connection = http.client.HTTPConnection(HOST, server.port, timeout=servers.START_LIMIT)
        with contextlib.suppress(OSError), contextlib.closing(connection):
            connection.request("GET", path, headers={name: value})
            if connection.getresponse().status == 200:
                return
        time.sleep(0.005)
    raise RuntimeError("the server did not respond")
