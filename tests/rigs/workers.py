"""A connection to each worker of a server. The kernel chooses the worker of a connection, so more
connections are opened than are needed."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

from .servers import Server

MOST_OPENED = 400


@contextmanager
def connections(server: Server, probe: str, count: int) -> Iterator[list[HTTPConnection]]:
    """Yield one connection to each of `count` workers, all of which have responded."""
    with contextlib.ExitStack() as opened:
        by_worker: dict[int, HTTPConnection] = {}
        for _ in range(MOST_OPENED):
            connection = opened.enter_context(
                contextlib.closing(HTTPConnection("127.0.0.1", server.port, timeout=10))
            )
            connection.request("GET", probe)
            connection.getresponse().read()
            by_worker.setdefault(_owner(connection, server), connection)
            if len(by_worker) == count:
                break
        assert len(by_worker) == count, f"only {len(by_worker)} workers have responded"
        yield list(by_worker.values())


def _owner(connection: HTTPConnection, server: Server) -> int:
    inode = _inode(server.port, connection.sock.getsockname()[1])
    for pid in server.workers():
        with contextlib.suppress(OSError):
            for descriptor in Path(f"/proc/{pid}/fd").iterdir():
                if os.readlink(descriptor) == f"socket:[{inode}]":
                    return pid
    raise AssertionError("no worker has this connection")


def _inode(local: int, remote: int) -> str:
    """Return the inode of the server's socket."""
    for line in Path("/proc/net/tcp").read_text().splitlines():
        fields = line.split()
        if fields[1].endswith(f":{local:04X}") and fields[2].endswith(f":{remote:04X}"):
            return fields[9]
    raise AssertionError("the connection is closed")
