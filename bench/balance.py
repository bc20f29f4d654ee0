"""Keep-alive connections, as many to each worker.

Which worker takes a connection is a race that one of them may win each time; half of the server
then stands idle and the figures tell of luck. So more are dialled than needed, and only those are
kept that share the work evenly: whose a connection is, /proc tells by the socket's inode.
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
    """`each` connections to every worker, as near as luck allows; all have answered once."""
    kept: list[socket.socket] = []
    spare: list[socket.socket] = []
    share: Counter[int] = Counter()
    pids = server.workers()
    for _ in range(ATTEMPTS):
        if len(kept) == each * workers:
            break
        sock = dial(server.port)
        sock.sendall(probe)
        _read_answer(sock)
        owner = _owner(sock, server.port, pids)
        if share[owner] < each:
            share[owner] += 1
            kept.append(sock)
        else:
            # Held, not closed: a worker with many connections is slower to take the next one.
            spare.append(sock)
            if len(spare) > 32:
                spare.pop(0).close()
    for sock in spare:
        sock.close()
    if len(kept) < each * workers:
        print(f"  uneven: {sorted(share.values(), reverse=True)} connections for each worker")
    return kept


def _read_answer(sock: socket.socket) -> None:
    """The probe's answer is short; what follows the header is read with it or just after."""
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
