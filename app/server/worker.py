"""gunicorn's threaded worker, with threads that never wait for clients.

gthread assigns a connection to a thread at once, which then waits for the client to send the
request. Here the poller reads with a deadline, and a thread gets a complete request. The reasons
are in docs/decisions/slow-clients.md.
"""

import errno
import socket
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from selectors import EVENT_READ, EVENT_WRITE
from typing import Any

from gunicorn.glogging import Logger
from gunicorn.http.errors import LimitRequestHeaders
from gunicorn.workers.gthread import TConn, ThreadWorker

from .common import release_large_blocks
from .refusals import RequestTooSlow, answer
from .request_buffer import HEAD_LIMIT, BufferedSocket, RequestBuffer

HEAD_SECONDS = 10.0
# The minimum progress of a body in a number of seconds; a response must progress in them too.
STEP_BYTES = 10 * 1024
STEP_SECONDS = 10.0
LINGER_SECONDS = 2.0
DISCARD_SIZE = 64 * 1024
# The memory of a worker for all clients; clients with little are not closed to free memory.
MEMORY_LIMIT = 64 * 1024 * 1024
SMALL_SIZE = 64 * 1024


class BufferedWorker(ThreadWorker):  # type: ignore[misc]
    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        # Connections that the poller waits for, each with its time-out action.
        self.waiting: dict[TConn, Callable[[TConn], None]] = {}
        self.next_check = 0.0
        self.next_heartbeat = 0.0
        self.is_due = True
        self.kept_bytes = 0
        # sendfile would bypass the buffered socket, and block.
        self.cfg.set("sendfile", False)

    def init_process(self) -> None:
        release_large_blocks()
        # gunicorn's lookup of a setting is slow, and each request needs twenty.
        self.cfg.__dict__.update({name: found.get() for name, found in self.cfg.settings.items()})
        super().init_process()

    @classmethod
    def check_config(cls, cfg: Any, log: Any) -> None:
        super().check_config(cfg, log)
        if cfg.is_ssl:
            raise RuntimeError("This worker does not support TLS: use a proxy in front.")

    def accept(self, listener: socket.socket) -> None:
        if self.nr_conns + 1 >= self.worker_connections:
            self.make_room()
        try:
            super().accept(listener)
        except OSError as error:
            if error.errno not in (errno.EMFILE, errno.ENFILE):
                raise
            self.make_room()

    def enqueue_req(self, conn: TConn) -> None:
        """Start reading a request; a thread gets it when it is complete."""
        if not isinstance(conn.sock, BufferedSocket):
            conn.sock = BufferedSocket(conn.sock, STEP_SECONDS)
            conn.kept_bytes = 0
            conn.data_ready = True
        conn.next_step = 0
        self.read(conn)

    def read(self, conn: TConn) -> None:
        sock: BufferedSocket = conn.sock
        request = sock.request
        request.add(sock.receive())
        if request.is_whole() or sock.ended:
            self.leave(conn)
            if request.size:
                super().enqueue_req(conn)
            else:
                self.close(conn)
        elif not request.head_size and request.size > HEAD_LIMIT:
            self.give_up(conn, LimitRequestHeaders("no end in sight"))
        else:
            if conn not in self.waiting:
                self.wait(conn, EVENT_READ, self.read, HEAD_SECONDS, self.give_up)
            if request.head_size and request.size >= conn.next_step:
                if not conn.next_step and request.expects_100():
                    with suppress(OSError):
                        sock.offer(b"HTTP/1.1 100 Continue\r\n\r\n")
                conn.next_step = request.size + STEP_BYTES
                conn.timeout = time.monotonic() + STEP_SECONDS
            self.weigh(conn, sock.size)

    def finish_request(self, conn: TConn, done: Future[bool]) -> None:
        """Send the rest of a response before the next request."""
        try:
            all_sent = conn.sock.push()
        except OSError:
            self.close(conn)
            return
        if not all_sent:
            go_on = partial(self.finish_request, done=done)
            self.wait(conn, EVENT_WRITE, go_on, STEP_SECONDS, self.close)
            self.weigh(conn, conn.sock.size)
            return
        self.leave(conn)
        if done.cancelled() or not done.result():
            self.linger(conn)
            return
        following = conn.parser.unreader.take_buffered() + conn.sock.request.data
        conn.sock.expect(RequestBuffer(following))
        self.weigh(conn, len(following))
        if following:
            self.enqueue_req(conn)
        else:
            super().finish_request(conn, done)

    def give_up(self, conn: TConn, error: Exception | None = None) -> None:
        self.leave(conn)
        if conn.sock.request.size:
            self.handle_error(None, conn.sock, conn.client, error or RequestTooSlow())
            self.linger(conn)
        else:
            self.close(conn)

    def linger(self, conn: TConn) -> None:
        """Close later: an immediate close during an upload resets the connection and loses the
        response."""
        conn.sock.expect(RequestBuffer())
        self.weigh(conn, 0)
        with suppress(OSError):
            conn.sock.shutdown(socket.SHUT_WR)
        self.drain(conn)

    def drain(self, conn: TConn) -> None:
        conn.sock.receive()
        if conn.sock.ended:
            self.close(conn)
        elif conn not in self.waiting:
            self.wait(conn, EVENT_READ, self.drain, LINGER_SECONDS, self.close)

    def wait(
        self,
        conn: TConn,
        event: int,
        go_on: Callable[[TConn], None],
        seconds: float,
        give_up: Callable[[TConn], None],
    ) -> None:
        conn.timeout = time.monotonic() + seconds
        if conn not in self.waiting:
            self.waiting[conn] = give_up
            self.poller.register(conn.sock, event, lambda _: go_on(conn))

    def leave(self, conn: TConn) -> None:
        if self.waiting.pop(conn, None):
            self.poller.unregister(conn.sock)

    def close(self, conn: TConn) -> None:
        self.leave(conn)
        self.weigh(conn, 0)
        self.nr_conns -= 1
        conn.close()

    def weigh(self, conn: TConn, kept_bytes: int) -> None:
        self.kept_bytes += kept_bytes - conn.kept_bytes
        conn.kept_bytes = kept_bytes
        if self.kept_bytes > MEMORY_LIMIT and kept_bytes > SMALL_SIZE:
            self.make_room(SMALL_SIZE)

    def make_room(self, at_least: int = 0) -> None:
        """Close the connection nearest to its timeout that uses at least this much memory."""
        found = [conn for conn in self.waiting if conn.kept_bytes >= at_least]
        if found:
            self.close(min(found, key=lambda conn: conn.timeout))

    def notify(self) -> None:
        """Send the heartbeat at most twice a second, not at each iteration of gunicorn's loop."""
        self.is_due = time.monotonic() >= self.next_heartbeat
        if self.is_due:
            self.next_heartbeat = time.monotonic() + 0.5
            super().notify()

    def is_parent_alive(self) -> bool:
        return not self.is_due or bool(super().is_parent_alive())

    def murder_pending(self) -> None:
        """Close timed-out connections; gunicorn's loop calls this at each iteration."""
        now = time.monotonic()
        if now < self.next_check:
            return
        self.next_check = now + 0.5
        for conn in [conn for conn in self.waiting if conn.timeout <= now]:
            self.waiting[conn](conn)

    def _cap_keepalive(self, deadline: float) -> None:
        """Close connections without a request soon when the worker stops."""
        super()._cap_keepalive(deadline)
        for conn in self.waiting:
            if not conn.sock.request.size:
                conn.timeout = min(conn.timeout, deadline)

    def handle_request(self, req: Any, conn: TConn) -> bool:
        if conn.sock.request.is_cut:
            req.force_close()
        return bool(super().handle_request(req, conn))

    def _keepalive_after(self, conn: TConn, keepalive: bool) -> bool:
        """Discard the rest of the body, which is complete, because the connection stays open."""
        if not keepalive:
            return False
        body = conn.parser.mesg.body
        try:
            # gunicorn's own code reads a KiB at a time, and copies the rest each time.
            while body.read(DISCARD_SIZE):
                pass
        except Exception:
            return False  # the rest of the body is invalid, after the response
        return not body.failed

    def handle_error(self, req: Any, client: BufferedSocket, addr: Any, exc: Exception) -> None:
        status, request_id, sent = answer(exc, self.wsgi)
        # Without the client's data, which may contain a token.
        values = (type(exc).__name__, addr[0] if addr else "a socket", status, request_id)
        self.log.warning(
            "%s from %s, response %d, request id %s",
            *values,
            exc_info=exc if status == 500 else None,
        )
        with suppress(OSError):
            client.offer(sent)


class ApplicationLog(Logger):  # type: ignore[misc]
    """Logs through the application's configuration, unless the operator sets a file for the log."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        if cfg.errorlog == "-":
            for handler in list(self.error_log.handlers):
                if getattr(handler, "_gunicorn", False):
                    self.error_log.removeHandler(handler)
            self.error_log.propagate = True
