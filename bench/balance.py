"""Keep-alive connections, distributed evenly over the workers.

Which worker accepts a connection is random, and one of them can win each time: the other workers
would be idle, and the results would depend on chance. So more connections are opened than needed,
and only an even number for each worker is used. /proc shows the owner of a connection by the
socket's inode.
"""

import contextlib
import os
import socket
from collections import Counter
from pathlib import Path

from bench.load import dial
from bench.servers import Server

ATTEMPTS = 400


def connections(server: Server, probe: bytes, each: int, workers: int) -> list[socket.socket]:
    """Return `each` connections to every worker, if possible; each has received one response."""
    chosen: list[socket.socket] = []
    spare: list[socket.socket] = []
    share: Counter[int] = Counter()
    pids = server.workers()
    for _ in range(ATTEMPTS):
        if len(chosen) == each * workers:
            break
        sock = dial(server.port)
        sock.sendall(probe)
        _read_answer(sock)
        owner = _owner(sock, server.port, pids)
        if share[owner] < each:
            share[owner] += 1
            chosen.append(sock)
        else:
            # Kept open: a worker with many connections is slower to accept the next one.
            spare.append(sock)
            if len(spare) > 32:
                spare.pop(0).close()
    for sock in spare:
        sock.close()
    if len(chosen) < each * workers:
        print(f"  uneven: {sorted(share.values(), reverse=True)} connections for each worker")
    return chosen


def _read_answer(sock: socket.socket) -> None:
    """Read the short response to the probe, with the body that follows its header."""
    received = b""
    while b"\r\n\r\n" not in received:
        data = sock.recv(65_536)
        if not data:
            raise RuntimeError("the server closed a new connection")
        received += data
    head, _, body = received.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0])
    while len(body) < length:
        body += sock.recv(65_536)


def _owner(sock: socket.socket, server_port: int, pids: list[int]) -> int:
    inode = _inode(server_port, sock.getsockname()[1])
    for pid in pids:
        with contextlib.suppress(OSError):
            for descriptor in Path(f"/proc/{pid}/fd").iterdir():
                if os.readlink(descriptor) == f"socket:[{inode}]":
                    return pid
    return 0


def _inode(local: int, remote: int) -> str:
    with Path("/proc/net/tcp").open() as table:
        for line in table:
            fields = line.split()
            if fields[1].endswith(f":{local:04X}") and fields[2].endswith(f":{remote:04X}"):
                return fields[9]
    return ""
