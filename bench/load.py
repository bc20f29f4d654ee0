"""The load generator: one thread and raw sockets; each connection sends again after its response.

It costs about a twentieth of what the fastest server here costs for a request. Every response is
read completely and its status is checked. Latency is the time from the first byte sent to the last
byte received.
"""

import gc
import select
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import cycle

from bench.places import HOST

# The longest wait for a response, in case a server hangs.
RESPONSE_LIMIT = 30.0


@dataclass
class Load:
    """The results of a run, with the latency of each response in seconds."""

    latencies: list[float] = field(default_factory=list)
    received: int = 0
    errors: int = 0
    elapsed: float = 0.0
    own_cpu: float = 0.0

    @property
    def rate(self) -> float:
        return len(self.latencies) / self.elapsed if self.elapsed else 0.0

    def percentile(self, share: float) -> float:
        ordered = sorted(self.latencies)
        return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0


class _Connection:
    """One connection and its current request."""

    __slots__ = ("buffer", "length", "sent", "socket")

    def __init__(self, sock: socket.socket) -> None:
        self.socket = sock
        self.buffer = b""
        self.length = -1
        self.sent = 0.0


def dial(port: int) -> socket.socket:
    sock = socket.create_connection((HOST, port), timeout=5)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


def run(
    port: int,
    requests: Sequence[bytes],
    *,
    seconds: float,
    sockets: Sequence[socket.socket] = (),
    connections: int = 16,
    count: int | None = None,
) -> Load:
    """Send the requests in turn for `seconds`, or until `count` have a response.

    Uses the connections `sockets`; without them, each request opens a connection.
    """
    load = Load()
    poll = select.epoll()
    following = cycle(requests)
    keep = bool(sockets)
    by_descriptor: dict[int, _Connection] = {}
    left = -1 if count is None else count

    def ask(connection: _Connection) -> None:
        connection.buffer = b""
        connection.length = -1
        connection.sent = time.perf_counter()
        if not keep:
            connection.socket = dial(port)
        connection.socket.send(next(following))
        if not keep:
            by_descriptor[connection.socket.fileno()] = connection
            poll.register(connection.socket.fileno(), select.EPOLLIN)

    collecting = gc.isenabled()
    gc.disable()
    cpu = time.process_time()
    begin = last = time.perf_counter()
    deadline = begin + seconds
    for position in range(len(sockets) or connections):
        connection = _Connection(sockets[position] if keep else socket.socket())
        if keep:
            by_descriptor[connection.socket.fileno()] = connection
            poll.register(connection.socket.fileno(), select.EPOLLIN)
        if left != 0:
            left -= 1
            ask(connection)
    waiting = len(by_descriptor) if count is None else min(len(by_descriptor), count)
    while waiting:
        ready = poll.poll(RESPONSE_LIMIT)
        if not ready:
            load.errors += waiting
            break
        for descriptor, _ in ready:
            connection = by_descriptor[descriptor]
            if not _is_complete(connection):
                continue
            last = time.perf_counter()
            if connection.buffer[9:10] == b"2":
                load.latencies.append(last - connection.sent)
                load.received += len(connection.buffer)
            else:
                load.errors += 1
            if not keep:
                poll.unregister(descriptor)
                del by_descriptor[descriptor]
                connection.socket.close()
            if last < deadline and left != 0 and (not keep or connection.length >= 0):
                left -= 1
                ask(connection)
            else:
                waiting -= 1
    load.elapsed = last - begin
    load.own_cpu = time.process_time() - cpu
    poll.close()
    if collecting:
        gc.enable()
    return load


def _is_complete(connection: _Connection) -> bool:
    """Return whether the response is complete; a lost connection counts as an empty response."""
    try:
        data = connection.socket.recv(262_144)
    except OSError:
        data = b""
    if not data:
        connection.buffer, connection.length = b"", -1
        return True
    connection.buffer += data
    if connection.length < 0:
        end = connection.buffer.find(b"\r\n\r\n")
        if end < 0:
            return False
        head = connection.buffer[:end].lower()
        at = head.find(b"content-length:")
        if at < 0:
            raise RuntimeError("a response without Content-Length")
        connection.length = end + 4 + int(head[at + 15 :].split(b"\r\n", 1)[0])
    return len(connection.buffer) >= connection.length
