"""A connection to each worker of a server: which of them takes one is chance, so more are opened
than are kept."""

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
    """One to each of `count` workers, which have all answered."""
    with contextlib.ExitStack() as opened:
        kept: dict[int, HTTPConnection] = {}
        for _ in range(MOST_OPENED):
            connection = opened.enter_context(
                contextlib.closing(HTTPConnection("127.0.0.1", server.port, timeout=10))
            )
            connection.request("GET", probe)
            connection.getresponse().read()
            kept.setdefault(_owner(connection, server), connection)
            if len(kept) == count:
                break
        assert len(kept) == count, f"only {len(kept)} workers have answered"
        yield list(kept.values())


def _owner(connection: HTTPConnection, server: Server) -> int:
    inode = _inode(server.port, connection.sock.getsockname()[1])
    for pid in server.workers():
        with contextlib.suppress(OSError):
            for descriptor in Path(f"/proc/{pid}/fd").iterdir():
                if os.readlink(descriptor) == f"socket:[{inode}]":
                    return pid
    raise AssertionError("no worker has this connection")


def _inode(local: int, remote: int) -> str:
    """Of the server's end."""
    for line in Path("/proc/net/tcp").read_text().splitlines():
        fields = line.split()
        if fields[1].endswith(f":{local:04X}") and fields[2].endswith(f":{remote:04X}"):
            return fields[9]
    raise AssertionError("the connection is closed")
