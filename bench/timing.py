"""A load, with the processor time of the server and of the database."""

import socket
from collections.abc import Sequence

import psycopg

from bench import load, proc
from bench.database import Data
from bench.servers import Server


def timed(
    server: Server,
    data: Data,
    requests: Sequence[bytes],
    seconds: float,
    sockets: Sequence[socket.socket] = (),
    count: int | None = None,
) -> dict[str, float]:
    """Return requests per second, latencies in milliseconds, and for each request the
    microseconds of processor and the bytes of the response."""
    web, backends = server.pids(), database_backends(data)
    web_before, database_before = proc.cpu_seconds(web), proc.cpu_seconds(backends)
    result = load.run(server.port, requests, seconds=seconds, sockets=sockets, count=count)
    web_cpu = proc.cpu_seconds(web) - web_before
    database_cpu = proc.cpu_seconds(backends) - database_before
    answered = len(result.latencies)
    if result.errors or not answered:
        raise RuntimeError(f"{result.errors} of {answered + result.errors} answers were errors")
    return {
        "rate": result.rate,
        "p50": result.percentile(0.5) * 1e3,
        "p95": result.percentile(0.95) * 1e3,
        "p99": result.percentile(0.99) * 1e3,
        "cpu": web_cpu / answered * 1e6,
        "database": database_cpu / answered * 1e6,
        "load": result.own_cpu / answered * 1e6,
        "bytes": result.received / answered,
    }


def database_backends(data: Data) -> list[int]:
    """Return the server processes of this database; none for a database on another machine."""
    with psycopg.connect(data.url) as connection:
        rows = connection.execute(
            "SELECT pid FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        ).fetchall()
    return [pid for (pid,) in rows]
