"""Logins per second and the slowest login, compared with `bcrypt.checkpw` on as many threads."""

import threading
import time
from dataclasses import replace

import bcrypt

from bench import database, load, requests
from bench.database import BASE
from bench.figures import Column, Goal, Table
from bench.options import Options
from bench.places import PASSWORD
from bench.servers import Server, running

COLUMNS = (Column("rate", "logins/s", "{:.2f}"), Column("p99", "p99 ms"))
CALLERS = 200
AT_ONCE = 8
# The service's default. With fewer threads, sign-ins would wait in front of the queue.
THREADS = 32


def measure(options: Options) -> list[Table]:
    goals = (
        Goal("rate", 0.95, ("bare",), at_least=True),
        Goal("p99", 1.2, ("bare",), at_least=False),
    )
    table = Table("Login", "bare", COLUMNS, goals)
    seconds = max(options.seconds, 5.0 if options.quick else 15.0)
    found = options.contenders("frontdesk")
    service = [replace(contender, threads=THREADS) for contender in found]
    if service:
        database.prepare(BASE)
    for number in range(options.rounds):
        print(f"Login, round {number + 1}", flush=True)
        title = f"bcrypt.checkpw, {AT_ONCE} threads"
        table.add("bare", _figures(_bare(seconds)), title)
        for contender in service:
            with running(contender, BASE) as server:
                logins = [
                    requests.login(requests.email(n), PASSWORD) for n in range(1, CALLERS + 1)
                ]
                # The first responses of a server are not measured.
                _logins(server, logins, seconds=60.0, count=2 * AT_ONCE)
                result = _logins(server, logins, seconds=seconds)
            table.add(contender.name, _figures(result), contender.title)
    return [table]


def _figures(result: load.Load) -> dict[str, float]:
    return {"rate": result.rate, "p99": result.percentile(0.99) * 1e3}


def _logins(
    server: Server, logins: list[bytes], *, seconds: float, count: int | None = None
) -> load.Load:
    result = load.run(server.port, logins, seconds=seconds, connections=AT_ONCE, count=count)
    if result.errors:
        raise RuntimeError(f"{result.errors} logins were refused")
    return result


def _bare(seconds: float) -> load.Load:
    """Each thread starts again until the time is up, and finishes what it has started."""
    password = PASSWORD.encode()
    hashed = bcrypt.hashpw(password, bcrypt.gensalt(12))
    result = load.Load()
    begin = time.perf_counter()

    def check() -> None:
        while (start := time.perf_counter()) - begin < seconds:
            assert bcrypt.checkpw(password, hashed)
            result.latencies.append(time.perf_counter() - start)

    threads = [threading.Thread(target=check) for _ in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    result.elapsed = time.perf_counter() - begin
    return result
