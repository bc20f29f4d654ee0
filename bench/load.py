"""The load: one thread, raw sockets, each connection asks again as soon as it is answered.

It costs about a twentieth of what the quickest server here costs for a request; every answer is
read to its end and its status looked at. Latency runs from the first byte sent to
the last received.
"""

import gc
import select
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import cycle

from bench.places import HOST

# No answer here may take longer; a server that hangs must not hang the bench.
ANSWER_LIMIT = 30.0


@dataclass
class Load:
    """What came of a run: one latency for each answer, in seconds."""

    latencies: list[float] = field(default_factory=list)
    errors: int = 0
    elapsed: float = 0.0
    own_cpu: float = 0.0

    @property
    def rate(self) -> float:
        return len(self.latencies) / self.elapsed if self.elapsed else 0.0

    def percentile(self, share: float) -> float:
        ordered = sorted(self.latencies)
        return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0


class _Line:
    """One connection and the request it waits for."""

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
    """Send the requests round and round for `seconds`, or until `count` are answered.

    Over `sockets` where they are given; without them each request has a connection of its own.
    """
    load = Load()
    poll = select.epoll()
    following = cycle(requests)
    keep = bool(sockets)
    lines: dict[int, _Line] = {}
    left = -1 if count is None else count

    def ask(line: _Line) -> None:
        line.buffer = b""
        line.length = -1
        line.sent = time.perf_counter()
        if not keep:
            line.socket = dial(port)
        line.socket.send(next(following))
        if not keep:
            lines[line.socket.fileno()] = line
            poll.register(line.socket.fileno(), select.EPOLLIN)

    collecting = gc.isenabled()
    gc.disable()
    cpu = time.process_time()
    begin = last = time.perf_counter()
    deadline = begin + seconds
    for position in range(len(sockets) or connections):
        line = _Line(sockets[position] if keep else socket.socket())
        if keep:
            lines[line.socket.fileno()] = line
            poll.register(line.socket.fileno(), select.EPOLLIN)
        if left != 0:
            left -= 1
            ask(line)
    waiting = len(lines) if count is None else min(len(lines), count)
    while waiting:
        ready = poll.poll(ANSWER_LIMIT)
        if not ready:
            load.errors += waiting
            break
        for descriptor, _ in ready:
            line = lines[descriptor]
            if not _answered(line):
                continue
            last = time.perf_counter()
            if line.buffer[9:10] == b"2":
                load.latencies.append(last - line.sent)
            else:
                load.errors += 1
            if not keep:
                poll.unregister(descriptor)
                del lines[descriptor]
                line.socket.close()
            if last < deadline and left != 0 and (not keep or line.length >= 0):
                left -= 1
                ask(line)
            else:
                waiting -= 1
    load.elapsed = last - begin
    load.own_cpu = time.process_time() - cpu
    poll.close()
    if collecting:
        gc.enable()
    return load


def _answered(line: _Line) -> bool:
    """Whether the whole answer is there; a connection that breaks off counts as an empty one."""
    try:
        data = line.socket.recv(262_144)
    except OSError:
        data = b""
    if not data:
        line.buffer, line.length = b"", -1
        return True
    line.buffer += data
    if line.length < 0:
        end = line.buffer.find(b"\r\n\r\n")
        if end < 0:
            return False
        head = line.buffer[:end].lower()
        at = head.find(b"content-length:")
        if at < 0:
            raise RuntimeError("an answer without Content-Length")
        line.length = end + 4 + int(head[at + 15 :].split(b"\r\n", 1)[0])
    return len(line.buffer) >= line.length
