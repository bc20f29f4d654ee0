"""Slow clients: each opens a connection and sends few bytes, or none."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event, Thread

SILENT = (b"", b"")
SLOW_HEAD = (b"GET /api/v1/health HTTP/1.1\r\nHost: x\r\nX-Slow: ", b"a")
SLOW_BODY = (
    b"POST /api/v1/tasks/ HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    b"Content-Length: 100000\r\n\r\n",
    b" ",
)
SLOW_CHUNKS = (
    b"POST /api/v1/tasks/ HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n",
    b"1\r\n \r\n",
)


@dataclass
class SlowClient:
    connection: socket.socket
    drop: bytes
    received: bytes = field(default=b"", init=False)
    is_closed: bool = field(default=False, init=False)

    def drip(self) -> None:
        try:
            if self.drop:
                self.connection.sendall(self.drop)
        except OSError:
            pass  # the server has closed the connection; its response can still be read
        try:
            while chunk := self.connection.recv(4096):
                self.received += chunk
            self.is_closed = True
        except BlockingIOError:
            pass
        except OSError:
            self.is_closed = True


def open_slowly(port: int, manner: tuple[bytes, bytes], count: int) -> list[SlowClient]:
    clients = []
    for _ in range(count):
        connection = socket.create_connection(("127.0.0.1", port), timeout=10)
        connection.sendall(manner[0])
        connection.setblocking(False)
        clients.append(SlowClient(connection, manner[1]))
    return clients


@contextmanager
def dripping(clients: list[SlowClient], every: float = 0.5) -> Iterator[None]:
    """Make each client send its next bytes every `every` seconds while the block runs."""
    over = Event()

    def drip() -> None:
        while not over.wait(every):
            for client in clients:
                if not client.is_closed:
                    client.drip()

    thread = Thread(target=drip)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        for client in clients:
            with suppress(OSError):
                client.connection.close()


def wait_until_closed(clients: list[SlowClient], seconds: float) -> None:
    until = time.monotonic() + seconds
    while open_ones := sum(not client.is_closed for client in clients):
        assert time.monotonic() < until, f"{open_ones} of {len(clients)} are still open"
        time.sleep(0.1)
