"""Limits how many requests the application handles at once on granian.

granian assigns a thread to a request when its headers are complete. Here the thread reads the body
before it takes a slot of the application, so a slow client occupies one of many threads, but no
slot.
"""

from collections.abc import Callable, Iterable
from io import BytesIO
from queue import SimpleQueue
from threading import Lock
from typing import Any

from ..core.errors import BadRequest, Problem
from ..core.web.request_data import UnreadableBody
from ..core.web.server_errors import LengthRequired, TooManyBodies, UriTooLong
from .common import problem

LINE_LIMIT = 8190
# More than any route accepts: the application rejects longer bodies unread.
BODY_LIMIT = 6 * 1024 * 1024
# Memory for all bodies in transit; small bodies always fit.
MEMORY_LIMIT = 64 * 1024 * 1024
ALWAYS_FITS = 64 * 1024

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
Application = Callable[[Environ, StartResponse], Iterable[bytes]]

_PHRASES = {
    400: "400 Bad Request",
    411: "411 Length Required",
    414: "414 URI Too Long",
    503: "503 Service Unavailable",
}


class ConcurrencyLimiter:
    def __init__(self, app: Application, slots: int) -> None:
        self._app = app
        # A queue in C takes a tenth of the time of a semaphore in Python.
        self._slots: SimpleQueue[None] = SimpleQueue()
        for _ in range(slots):
            self._slots.put(None)
        self._kept_bytes = 0
        self._memory_lock = Lock()

    def __call__(self, environ: Environ, start: StartResponse) -> Iterable[bytes]:
        if len(environ["PATH_INFO"]) + len(environ["QUERY_STRING"]) > LINE_LIMIT:
            return self._reject(start, UriTooLong)
        if "," in environ.get("HTTP_HOST", ""):
            return self._reject(start, BadRequest, "The request names two hosts")
        if "HTTP_TRANSFER_ENCODING" in environ:
            # granian distinguishes a truncated body from a complete one by its length only.
            return self._reject(start, LengthRequired)
        length = int(environ.get("CONTENT_LENGTH") or 0)
        if not 0 < length <= BODY_LIMIT:
            environ["wsgi.input"] = BytesIO()
            return self._respond(environ, start)
        if not self._reserve(length):
            return self._reject(start, TooManyBodies)
        try:
            body = environ["wsgi.input"].read(length)
            if len(body) < length:
                return self._reject(start, UnreadableBody)
            environ["wsgi.input"] = BytesIO(body)
            return self._respond(environ, start)
        finally:
            self._release(length)

    def _respond(self, environ: Environ, start: StartResponse) -> Iterable[bytes]:
        is_whole = False

        def note_length(status: str, headers: list[tuple[str, str]], *more: object) -> Any:
            nonlocal is_whole
            is_whole = any(name == "Content-Length" for name, _ in headers)
            return start(status, headers, *more)

        self._slots.get()
        try:
            body = self._app(environ, note_length)
            if not is_whole:
                return body  # a stream, which is generated while it is sent
            try:
                return list(body)
            finally:
                body.close()  # type: ignore[attr-defined]
        finally:
            self._slots.put(None)

    def _reserve(self, length: int) -> bool:
        with self._memory_lock:
            if length > ALWAYS_FITS and self._kept_bytes + length > MEMORY_LIMIT:
                return False
            self._kept_bytes += length
            return True

    def _release(self, length: int) -> None:
        with self._memory_lock:
            self._kept_bytes -= length

    def _reject(
        self, start: StartResponse, kind: type[Problem], detail: str | None = None
    ) -> list[bytes]:
        _, headers, body = problem(kind, self._app, detail)
        # What follows on the connection may be the rest of the rejected request.
        start(_PHRASES[kind.status], [*headers, ("Connection", "close")])
        return [body]
