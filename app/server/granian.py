"""`python -m app.server.granian`: the service on granian, with gunicorn's variables.

Which of the two to take: docs/gunicorn.md. The application is loaded before the workers are
forked off, which share its memory and one socket, which systemd or this process opens.
"""

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
# As many clients as a worker of gunicorn: each may hold a thread until its body is complete.
CONNECTIONS = 800
HEAD_SECONDS = 10
HEAD_LIMIT = 64 * 1024
GRACE_SECONDS = 30
# How long a stopping worker waits for requests on its open connections.
STOP_SECONDS = 0.3
# systemd's first socket.
_LISTEN_FD = 3
# The option of `prctl` for a signal when the parent dies.
_PR_SET_PDEATHSIG = 1

# granian's logs use the application's format: JSON in production.
_LOGGING: JsonObject = {
    "loggers": {"_granian": {"handlers": [], "propagate": True}},
    "handlers": {},
}


class Server(MPServer):
    """granian's server, with one socket that all workers share.

    With a socket for each worker, granian's default, clients that wait for a worker are lost when
    it ends. granian also closes accepted connections without a request. Therefore a worker stops
    accepting for a moment before it ends, and behind systemd's socket new clients wait for the
    next server.
    """

    def __init__(self, app: Flask, listener: socket.socket, threads: int, **options: Any) -> None:
        self.app = app
        self.listener = listener
        self.slots = threads
        host, port = listener.getsockname()[:2] if _is_tcp(listener) else ("127.0.0.1", 0)
        super().__init__("wsgi:app", host, port, interface=Interfaces.WSGI, **options)

    def _init_shared_socket(self) -> None:
        self._sso: Any = self.listener
        holder: Any = SocketHolder  # its type stubs lack the arguments
        self._shd: Any = holder(self.listener.fileno(), not _is_tcp(self.listener), BACKLOG)

    def _spawn_worker(self, *arguments: object, **options: object) -> Any:
        worker: Any = super()._spawn_worker(*arguments, **options)
        watch = worker._watcher

        def watch_and_forget() -> None:
            worker.inner.join()
            # A worker that ends while all are stopped has not failed.
            worker.interrupt_by_parent |= self.interrupt_signal
            watch()
            forget_worker(worker._id())

        worker._watcher = watch_and_forget
        end = worker.terminate

        def stop_accepting_first() -> None:
            if not self.interrupt_signal:
                self._stop_accepting(worker)
            end()

        worker.terminate = stop_accepting_first
        return worker

    def _stop_workers(self) -> None:
        self._stop_accepting(*self.wrks)
        stop: Any = super()._stop_workers
        stop()

    def _stop_accepting(self, *workers: Any) -> None:
        for worker in workers:
            with suppress(ProcessLookupError):
                os.kill(worker._id(), signal.SIGUSR1)
        time.sleep(STOP_SECONDS)

    def serve(self, *arguments: Any, **options: Any) -> None:
        """Omit granian's warning about many threads: nearly all of them wait for clients."""
        super(MPServer, self).serve(*arguments, **options)

    def begin_worker(self) -> ConcurrencyLimiter:
        """Prepare a forked process and return its WSGI application."""
        # For a stop before granian installs its handler: the parent's handler would only affect a
        # copy here, and the parent would wait until it kills the worker.
        signal.signal(signal.SIGTERM, _leave)
        if self.interrupt_signal:
            sys.exit(0)  # stopped since the fork
        with suppress(AttributeError, OSError):
            # Workers without a parent would keep the port open.
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        signal.signal(signal.SIGUSR1, self.stop_accepting)
        release_large_blocks()
        forget_connections(self.app)
        for begin in self.app.extensions[EXTENSION].when_serving:
            begin()
        return ConcurrencyLimiter(self.app, self.slots)

    def stop_accepting(self, *_: object) -> None:
        """Stop a worker from accepting: it listens on a socket that no client connects to."""
        with socket.socket(socket.AF_UNIX) as nowhere:
            nowhere.setblocking(False)
            nowhere.bind("")
            nowhere.listen(0)
            os.dup2(nowhere.fileno(), self.listener.fileno())


def _leave(*_: object) -> None:
    sys.exit(0)


def main() -> None:
    count_together()  # before the application is created, which reads the variable
    from wsgi import app

    context: Context = app.extensions[EXTENSION]
    if context.settings.core.METRICS_BIND:
        sys.exit("CORE__METRICS_BIND needs gunicorn: granian listens on one address.")
    multiprocessing.set_start_method("fork")
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)  # until a worker installs its handler
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
    server.on_startup(partial(notify_systemd, "READY=1"))
    server.serve(target_loader=server.begin_worker, wrap_loader=False)


def listen() -> socket.socket:
    """Return the socket that systemd passes, or a new one at BIND."""
    if os.environ.get("LISTEN_PID") == str(os.getpid()):
        return socket.socket(fileno=_LISTEN_FD)
    bind = os.environ.get("BIND", "127.0.0.1:8000")
    if "," in bind:
        sys.exit("Invalid settings: BIND: granian listens on one address.")
    if bind.startswith("unix:"):
        path = bind.removeprefix("unix:")
        Path(path).unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen(BACKLOG)
        return listener
    host, _, port = bind.rpartition(":")
    if not host or not port.isdecimal():
        sys.exit("Invalid settings: BIND: an address and a port, as in 127.0.0.1:8000.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host.strip("[]"), int(port)), family=family, backlog=BACKLOG)


def notify_systemd(state: str) -> None:
    """Notify systemd of the state, if the unit has Type=notify."""
    address = os.environ.get("NOTIFY_SOCKET")
    if address:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
            notify.connect(address.replace("@", "\0", 1) if address[0] == "@" else address)
            notify.send(state.encode())


def _is_tcp(listener: socket.socket) -> bool:
    return listener.family != socket.AF_UNIX


if __name__ == "__main__":
    main()
