"""Buffers the bytes of a request until it is complete.

Nothing is decided about them here: gunicorn's parser does that once a thread has the request. What
it will refuse whatever follows counts as all there.
"""

from __future__ import annotations

import errno
import re
import select
import socket
import sys

# More than any route accepts: the rest of a rejected body is not awaited.
BODY_LIMIT = 6 * 1024 * 1024
HEAD_LIMIT = 64 * 1024
# The longest request line that gunicorn takes, with its end.
_LINE_LIMIT = 8192

# A line that ends so makes gunicorn refuse the request.
_BARE_LF = re.compile(rb"(?<!\r)\n")
_FRAMING = re.compile(
    rb"\r\n(content-length|transfer-encoding):[ \t]*([^\r\n]*?)[ \t]*(?=\r\n)", re.I
)
_EXPECTS_100 = re.compile(
    rb"[^\r]* HTTP/1\.1\r\n(?:.*\r\n)?expect:[ \t]*100-continue[ \t]*\r\n", re.I | re.S
)
_UNKNOWN = sys.maxsize


class RequestBuffer:
    def __init__(self, data: bytes = b"") -> None:
        self.data = bytearray(data)
        self.size = len(data)
        self.head_size = 0
        # Whether the body goes on beyond what anybody waits for.
        self.is_cut = False
        self._end = _UNKNOWN
        # Where looking goes on: for the head's end, then for the line that a chunk begins with.
        self._next = 0

    def add(self, data: bytes) -> None:
        self.data += data
        self.size += len(data)

    def is_whole(self) -> bool:
        if not self.head_size:
            self._look_for_head()
        if self.head_size and self._end == _UNKNOWN:
            self._walk_chunks()
        if self.size < self._end and self.size > self.head_size + BODY_LIMIT:
            self.is_cut = True
        return self.is_cut or self.size >= self._end

    def expects_100(self) -> bool:
        """Whether the client may be waiting for a word before it sends the body."""
        return _EXPECTS_100.match(self.data, 0, self.head_size) is not None

    def _look_for_head(self) -> None:
        start = max(0, self._next - 3)
        self._next = self.size
        end = self.data.find(b"\r\n\r\n", start)
        if end >= 0:
            self.head_size = self._next = end + 4
            self._end = self._read_framing()
        elif _BARE_LF.search(self.data, start) or self._is_line_too_long():
            self.head_size = self._end = self.size

    def _is_line_too_long(self) -> bool:
        return self.size > _LINE_LIMIT and b"\n" not in self.data[:_LINE_LIMIT]

    def _read_framing(self) -> int:
        """Return the end of the request, if its head says so."""
        match _FRAMING.findall(self.data, 0, self.head_size):
            case [(name, length)] if name.lower() == b"content-length" and length.isdigit():
                if len(length) < 10 and int(length) <= BODY_LIMIT:
                    return self.head_size + int(length)
                self.is_cut = True
            case [(_, coding)] if coding.lower() == b"chunked":
                return _UNKNOWN
        return self.head_size

    def _walk_chunks(self) -> None:
        while (line_end := self.data.find(b"\r\n", self._next)) >= 0:
            try:
                size = int(self.data[self._next : line_end].partition(b";")[0], 16)
            except ValueError:
                size = -1
            if size < 0:
                self._end = self.size
                return
            if size == 0:
                # An empty line ends the trailers, or says that there are none.
                last = self.data.find(b"\r\n\r\n", line_end)
                if last >= 0:
                    self._end = last + 4
                break
            self._next = line_end + 2 + size + 2
        if self._end == _UNKNOWN and self.size - self._next > HEAD_LIMIT:
            self._end = self.size


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
        """Return the bytes received since, without waiting."""
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
