"""A TCP proxy in front of a server, which can drop, delay or block its connections."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress

from .backends import reserved_port


class TcpProxy:
    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self.port = reserved_port()
        self.silent = False
        # Seconds that responses are delayed.
        self.delay = 0.0
        self._pairs: list[socket.socket] = []
        self._forgotten: list[socket.socket] = []
        self._listener: socket.socket | None = None
        self._hole: list[socket.socket] = []
        self.restore()

    def restore(self) -> None:
        self.silent = False
        self.delay = 0.0
        self._drop()
        for end in self._hole:
            end.close()
        self._hole = []
        if self._listener is None:
            self._listener = socket.create_server(("127.0.0.1", self.port), reuse_port=True)
            threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def speak(self) -> None:
        """End a silence or a delay; data that was held back arrives now."""
        self.silent = False
        self.delay = 0.0

    def forget(self) -> None:
        """Drop the data of open connections without closing them, as a restarted router does. New
        connections work."""
        self._forgotten = list(self._pairs)

    def cut(self) -> None:
        if self._listener is not None:
            self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()
            self._listener = None
        self._drop()

    def swallow(self) -> None:
        """Ignore new connections without refusing them."""
        self.cut()
        self._hole = [socket.create_server(("127.0.0.1", self.port), backlog=0)]
        with suppress(TimeoutError):
            # The kernel drops connections when the queue is full.
            while True:
                self._hole.append(socket.create_connection(("127.0.0.1", self.port), timeout=0.2))

    def _drop(self) -> None:
        for end in self._pairs:
            end.close()
        self._pairs = []
        self._forgotten = []

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                near, _ = listener.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(self._target)
            except OSError:
                near.close()
                continue
            self._pairs += [near, far]
            for source, target, back in ((near, far, False), (far, near, True)):
                threading.Thread(
                    target=self._carry, args=(source, target, back), daemon=True
                ).start()

    def _carry(self, source: socket.socket, target: socket.socket, back: bool) -> None:
        try:
            while data := source.recv(65536):
                if back:
                    time.sleep(self.delay)
                while self.silent or source in self._forgotten:
                    time.sleep(0.02)
                target.sendall(data)
        except OSError:
            pass
        finally:
            # Closing a socket does not wake the thread that reads from the other socket.
            for end in (source, target):
                _close(end)


def _close(end: socket.socket) -> None:
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()
