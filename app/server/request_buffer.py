"""Buffers the bytes of a request until it is complete.

gunicorn's parser decides about the request once a thread has it. A request that the parser will
reject in any case counts as complete.
"""

import errno
import re
import select
import socket
import sys

# More than any route accepts: the rest of a rejected body is not awaited.
BODY_LIMIT = 6 * 1024 * 1024
HEAD_LIMIT = 64 * 1024
# The longest request line that gunicorn accepts, with its end.
_LINE_LIMIT = 8192

# gunicorn rejects a request with such a line end.
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
        # Whether the body is longer than the limit, so that the rest is not awaited.
        self.is_cut = False
        self._end = _UNKNOWN
        # Where the search continues: for the end of the headers, then for the next chunk.
        self._next = 0

    def add(self, data: bytes) -> None:
        self.data += data
        self.size += len(data)

    def is_whole(self) -> bool:
        if not self.head_size:
            self._find_head()
        if self.head_size and self._end == _UNKNOWN:
            self._find_last_chunk()
        if self.size < self._end and self.size > self.head_size + BODY_LIMIT:
            self.is_cut = True
        return self.is_cut or self.size >= self._end

    def expects_100(self) -> bool:
        """Return whether the client may wait for 100 Continue before it sends the body."""
        return _EXPECTS_100.match(self.data, 0, self.head_size) is not None

    def _find_head(self) -> None:
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
        """Return the end of the request if the headers determine it."""
        match _FRAMING.findall(self.data, 0, self.head_size):
            case [(name, length)] if name.lower() == b"content-length" and length.isdigit():
                if len(length) < 10 and int(length) <= BODY_LIMIT:
                    return self.head_size + int(length)
                self.is_cut = True
            case [(_, coding)] if coding.lower() == b"chunked":
                return _UNKNOWN
        return self.head_size

    def _find_last_chunk(self) -> None:
        while (line_end := self.data.find(b"\r\n", self._next)) >= 0:
            try:
                size = int(self.data[self._next : line_end].partition(b";")[0], 16)
            except ValueError:
                size = -1
            if size < 0:
                self._end = self.size
                return
            if size == 0:
                # An empty line ends the trailers, which may be empty.
                last = self.data.find(b"\r\n\r\n", line_end)
                if last >= 0:
                    self._end = last + 4
                break
            self._next = line_end + 2 + size + 2
        if self._end == _UNKNOWN and self.size - self._next > HEAD_LIMIT:
            self._end = self.size


_READ_SIZE = 64 * 1024
# A streamed response waits for a client that has not received so many bytes.
_MAX_UNSENT = 1024 * 1024


class BufferedSocket:
    """The socket for gunicorn's parser and response.

    Reads return what the poller has received before. The poller sends what the client does not
    receive of the response at once.
    """

    def __init__(self, sock: socket.socket, timeout: float) -> None:
        sock.setblocking(False)
        self._sock = sock
        self._timeout = timeout
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
        """The number of bytes in memory for this client."""
        return self.request.size + len(self._unsent)

    def expect(self, request: RequestBuffer) -> None:
        self.request = request
        self._parts = 0

    def receive(self) -> bytes:
        """Return the bytes received since, without waiting."""
        try:
            data = self._sock.recv(_READ_SIZE)
        except BlockingIOError:
            return b""
        except OSError:
            data = b""
        self.ended = not data
        return data

    def offer(self, data: bytes) -> None:
        """Send as much as the client receives without waiting."""
        self._unsent += data
        self.push()

    def push(self) -> bool:
        """Continue sending, and return whether all is sent."""
        try:
            while self._unsent:
                del self._unsent[: self._sock.send(self._unsent)]
        except BlockingIOError:
            return False
        return True

    def recv(self, size: int) -> bytes:
        data = self.request.data
        # gunicorn would read everything, and copy the rest at each step.
        size = min(size, _READ_SIZE)
        taken = bytes(data[:size])
        del data[:size]
        if not taken and not self.ended:
            # Only a body over the limit is incomplete, and its rest is not awaited.
            raise ConnectionResetError(errno.ECONNRESET, "The body is longer than what was read")
        return taken

    def sendall(self, data: bytes) -> None:
        self._parts += 1
        self._unsent += data
        if self._parts == 1:
            return  # the headers, which are sent together with the next part
        while not self.push() and len(self._unsent) > _MAX_UNSENT:
            room = select.poll()
            room.register(self._sock, select.POLLOUT)
            if not room.poll(self._timeout * 1000):
                raise BrokenPipeError(errno.EPIPE, "The client does not receive the response")

    def send(self, data: bytes) -> int:
        """Do nothing: gunicorn sends "100 Continue" here, which the poller has already sent."""
        return len(data)

    def setblocking(self, _blocking: bool) -> None:
        """Do nothing: the socket never blocks."""

    def settimeout(self, _seconds: float | None) -> None:
        """Do nothing: the socket never blocks."""
