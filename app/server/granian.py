"""`python -m app.server.granian`: the service on granian, with gunicorn's variables.

Which of the two to take: docs/gunicorn.md. The application is loaded before the workers are
forked off, which share its memory and one socket, that of systemd or one of our own.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import socket
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from flask import Flask
from granian._granian import SocketHolder
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.server.mp import MPServer

from ..core.context import EXTENSION, Context
from ..core.process.servers import forget_connections
from ..core.types import JsonObject
from .common import count_together, forget_worker, release_large_blocks
from .concurrency import ConcurrencyLimiter

BACKLOG = 2048
# As many clients as a worker of gunicorn's has: each may hold a thread until its body is there.
CONNECTIONS = 800
HEAD_SECONDS = 10
HEAD_LIMIT = 64 * 1024
GRACE_SECONDS = 30
# How long a stopping worker waits for requests on its open connections.
LAST_SECONDS = 0.3
# systemd's first socket.
_LISTEN_FD = 3
# What `prctl` calls the signal for when the parent dies.
_PR_SET_PDEATHSIG = 1

# granian's own lines have the application's form too: JSON in production.
_LOGGING: JsonObject = {
    "loggers": {"_granian": {"handlers": [], "propagate": True}},
    "handlers": {},
}


class Server(MPServer):
    """granian's, with a socket that all workers share.

    With one for each, as granian has it, those that wait at the socket of a worker are lost when
    it ends. granian also hangs up on whom it has let in and who has not spoken yet, so a worker
    that is replaced or stopped lets nobody in any more for a moment before it is told to end:
    behind systemd's socket, whoever comes meanwhile waits for the next server.
    """

    def __init__(self, app: Flask, listener: socket.socket, threads: int, **options: Any) -> None:
        self.app = app
        self.listener = listener
        self.turns = threads
        host, port = listener.getsockname()[:2] if _is_tcp(listener) else ("127.0.0.1", 0)
        super().__init__("wsgi:app", host, port, interface=Interfaces.WSGI, **options)

    def _init_shared_socket(self) -> None:
        self._sso: Any = self.listener
        holder: Any = SocketHolder  # of which the stubs do not know what it takes
        self._shd: Any = holder(self.listener.fileno(), not _is_tcp(self.listener), BACKLOG)

    def _spawn_worker(self, *arguments: object, **options: object) -> Any:
        worker: Any = super()._spawn_worker(*arguments, **options)
        watch = worker._watcher

        def watch_to_the_end() -> None:
            worker.inner.join()
            # A worker that ends while all are stopped has not failed.
            worker.interrupt_by_parent |= self.interrupt_signal
            watch()
            forget_worker(worker._id())

        worker._watcher = watch_to_the_end
        end = worker.terminate

        def let_go() -> None:
            if not self.interrupt_signal:
                self._close_doors(worker)
            end()

        worker.terminate = let_go
        return worker

    def _stop_workers(self) -> None:
        self._close_doors(*self.wrks)
        stop: Any = super()._stop_workers
        stop()

    def _close_doors(self, *workers: Any) -> None:
        for worker in workers:
            with suppress(ProcessLookupError):
                os.kill(worker._id(), signal.SIGUSR1)
        time.sleep(LAST_SECONDS)

    def serve(self, *arguments: Any, **options: Any) -> None:
        """Without the word about many threads: nearly all of them wait for clients."""
        super(MPServer, self).serve(*arguments, **options)

    def begin_worker(self) -> ConcurrencyLimiter:
        """In a process that was forked off, before it answers."""
        # A stop that comes before granian listens for it: what the parent does about one would be
        # done to a copy, and the worker would be waited for until it is killed.
        signal.signal(signal.SIGTERM, _leave)
        if self.interrupt_signal:
            sys.exit(0)  # a stop that came between the fork and here
        with suppress(AttributeError, OSError):
            # Workers without a parent would hold the port for ever.
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        signal.signal(signal.SIGUSR1, self.close_door)
        release_large_blocks()
        forget_connections(self.app)
        for begin in self.app.extensions[EXTENSION].contributions.when_serving:
            begin()
        return ConcurrencyLimiter(self.app, self.turns)

    def close_door(self, *_: object) -> None:
        """Stop a worker from accepting: it listens on a socket that no client connects to."""
        with socket.socket(socket.AF_UNIX) as nowhere:
            nowhere.setblocking(False)
            nowhere.bind("")
            nowhere.listen(0)
            os.dup2(nowhere.fileno(), self.listener.fileno())


def _leave(*_: object) -> None:
    sys.exit(0)


def main() -> None:
    count_together()  # before the application is made, which looks where it counts
    from wsgi import app

    context: Context = app.extensions[EXTENSION]
    if context.settings.core.METRICS_BIND:
        sys.exit("CORE__METRICS_BIND needs gunicorn: granian listens at one address.")
    multiprocessing.set_start_method("fork")
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)  # until a worker knows what it means
    server = Server(
        app,
        listen(),
        threads=int(os.environ.get("WEB_THREADS", "32")),
        workers=int(os.environ.get("WEB_CONCURRENCY", "1")),
        blocking_threads=CONNECTIONS,
        backpressure=CONNECTIONS,
        backlog=BACKLOG,
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(
            header_read_timeout=HEAD_SECONDS * 1000, max_buffer_size=HEAD_LIMIT
        ),
        websockets=False,
        respawn_failed_workers=True,
        respawn_interval=0.5,
        workers_kill_timeout=GRACE_SECONDS,
        log_dictconfig=_LOGGING,
    )
    server.on_startup(partial(tell_systemd, "READY=1"))
    server.serve(target_loader=server.begin_worker, wrap_loader=False)


def listen() -> socket.socket:
    """systemd's socket where it hands one over, else one at BIND."""
    if os.environ.get("LISTEN_PID") == str(os.getpid()):
        return socket.socket(fileno=_LISTEN_FD)
    bind = os.environ.get("BIND", "127.0.0.1:8000")
    if "," in bind:
        sys.exit("Wrong settings: BIND: granian listens at one address.")
    if bind.startswith("unix:"):
        path = bind.removeprefix("unix:")
        Path(path).unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen(BACKLOG)
        return listener
    host, _, port = bind.rpartition(":")
    if not host or not port.isdecimal():
        sys.exit("Wrong settings: BIND: an address and a port, as in 127.0.0.1:8000.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host.strip("[]"), int(port)), family=family, backlog=BACKLOG)


def tell_systemd(state: str) -> None:
    """That the service is ready, where its unit waits for that."""
    address = os.environ.get("NOTIFY_SOCKET")
    if address:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
            notify.connect(address.replace("@", "\0", 1) if address[0] == "@" else address)
            notify.send(state.encode())


def _is_tcp(listener: socket.socket) -> bool:
    return listener.family != socket.AF_UNIX


if __name__ == "__main__":
    main()
