"""Slow clients for some time, and their effect on other clients.

200 of each kind, replaced when the server closes them: silent, slow headers, slow bodies; on 2
workers with 32 threads, as in gunicorn.conf.py.
"""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

from bench import database, load
from bench.database import BASE
from bench.figures import Column, Goal, Table
from bench.options import Options
from bench.places import HOST
from bench.requests import get
from bench.servers import Contender, Server, running

EACH = 200
THREADS = 32
DRIP_SECONDS = 0.5
COLUMNS = (
    Column("rate", "requests/s"),
    Column("p50", "p50 ms", "{:.1f}"),
    Column("p99", "p99 ms", "{:.1f}"),
)
_POST = b"POST /api/v1/tasks/ HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
KINDS = (
    (b"", b""),
    (b"GET /api/v1/health HTTP/1.1\r\nHost: x\r\nX-Slow: ", b"a"),
    (_POST + b"Content-Length: 100000\r\n\r\n", b" "),
)


def measure(options: Options) -> list[Table]:
    database.prepare(BASE)
    seconds = 5.0 if options.quick else 60.0
    tables = []
    for found in options.contenders("frontdesk"):
        contender = replace(found, threads=THREADS)
        goals = (Goal("p99", 3.0, ("quiet",), at_least=False, who="loaded"),)
        table = Table(f"Slow clients, {contender.title}", "quiet", COLUMNS, goals)
        with running(contender, BASE) as server:
            print(f"Slow clients, {contender.title}", flush=True)
            _ask(contender, server, 2.0)
            table.add("quiet", _ask(contender, server, seconds / 3), "without them")
            with slow_clients(server.port):
                table.add("loaded", _ask(contender, server, seconds), f"with {EACH} of each kind")
        tables.append(table)
    return tables


def _ask(contender: Contender, server: Server, seconds: float) -> dict[str, float]:
    """Measure four other clients, which request health and a list in turn, each over a new
    connection."""
    paths = ("/api/v1/health", "/api/v1/tasks/?limit=20")
    requests = [get(path, "X-Owner: bench", keep=False) for path in paths]
    result = load.run(server.port, requests, seconds=seconds, connections=4)
    if result.errors:
        raise RuntimeError(f"{result.errors} other requests failed")
    return {
        "rate": result.rate,
        "p50": result.percentile(0.5) * 1e3,
        "p99": result.percentile(0.99) * 1e3,
    }


@contextmanager
def slow_clients(port: int) -> Iterator[None]:
    over = threading.Event()

    def keep_open(head: bytes, drop: bytes) -> None:
        clients: list[socket.socket | None] = [None] * EACH
        while not over.is_set():
            for number, client in enumerate(clients):
                clients[number] = _drip(client, drop) if client else _open(port, head)
            over.wait(DRIP_SECONDS)
        for client in clients:
            if client is not None:
                client.close()

    threads = [threading.Thread(target=keep_open, args=kind) for kind in KINDS]
    for thread in threads:
        thread.start()
    time.sleep(3.0)  # until all connections are open
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


def _open(port: int, head: bytes) -> socket.socket | None:
    with suppress(OSError):
        client = socket.create_connection((HOST, port), timeout=2)
        client.sendall(head)
        client.setblocking(False)
        return client
    return None


def _drip(client: socket.socket, drop: bytes) -> socket.socket | None:
    """Return the client after sending some bytes, or None if the server has closed it."""
    try:
        if drop:
            client.send(drop)
        while client.recv(4096):
            pass
    except BlockingIOError:
        return client
    except OSError:
        pass
    client.close()
    return None
