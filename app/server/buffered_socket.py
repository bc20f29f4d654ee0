"""A client's socket as gunicorn's threads see it: reading and answering wait for no client."""

from __future__ import annotations

import errno
import select
import socket

from .request_buffer import RequestBuffer

_READ_AT_ONCE = 64 * 1024
# An answer that is made while it is sent, as a stream is, waits for a client that is so far behind.
_MOST_UNSENT = 1024 * 1024


class BufferedSocket:
    """What gunicorn's parser reads from and its response writes to.

    They read what the poller has received before, and what the client does not take of the answer
    at once is left to the poller.
    """

    def __init__(self, sock: socket.socket, patience: float) -> None:
        sock.setblocking(False)
        self._sock = sock
        self._patience = patience
        self._unsent = bytearray()
        self._parts = 0
        self.request = RequestBuffer()
        self.ended = False
        self.fileno = sock.fileno
        self.getsockname = sock.getsockname
        self.shutdown = sock.shutdown
        self.close = sock.close

    @property
    def size(self) -> int:
        """The bytes that are kept for this client."""
        return self.request.size + len(self._unsent)

    def expect(self, request: RequestBuffer) -> None:
        self.request = request
        self._parts = 0

    def receive(self) -> bytes:
        """What has come in since, without waiting for more."""
        try:
            data = self._sock.recv(_READ_AT_ONCE)
        except BlockingIOError:
            return b""
        except OSError:
            data = b""
        self.ended = not data
        return data

    def offer(self, data: bytes) -> None:
        """Send as much of it as the client takes now."""
        self._unsent += data
        self.push()

    def push(self) -> bool:
        """Go on sending, and say whether nothing is left."""
        try:
            while self._unsent:
                del self._unsent[: self._sock.send(self._unsent)]
        except BlockingIOError:
            return False
        return True

    def recv(self, size: int) -> bytes:
        data = self.request.data
        # gunicorn would take it all, and copy what it does not need yet at each of its steps.
        size = min(size, _READ_AT_ONCE)
        taken = bytes(data[:size])
        del data[:size]
        if not taken and not self.ended:
            # More is to come of a body over the limit alone, and nobody waits for that.
            raise ConnectionResetError(errno.ECONNRESET, "The body is longer than what was read")
        return taken

    def sendall(self, data: bytes) -> None:
        self._parts += 1
        self._unsent += data
        if self._parts == 1:
            return  # the head of an answer, which goes out together with what follows
        while not self.push() and len(self._unsent) > _MOST_UNSENT:
            room = select.poll()
            room.register(self._sock, select.POLLOUT)
            if not room.poll(self._patience * 1000):
                raise BrokenPipeError(errno.EPIPE, "The client does not take the answer")

    def send(self, data: bytes) -> int:
        """Nothing: gunicorn says "100 Continue" here, which the poller has said where it helps."""
        return len(data)

    def setblocking(self, _blocking: bool) -> None:
        """Nothing: it never blocks."""

    def settimeout(self, _seconds: float | None) -> None:
        """Nothing: it never blocks."""
