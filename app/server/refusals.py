"""What gunicorn answers by itself, before the application has the request."""

from __future__ import annotations

from http import HTTPStatus

from gunicorn.http.errors import (
    ConfigurationProblem,
    ExpectationFailed,
    InvalidResponseHeader,
    InvalidResponseHeaderName,
    LimitRequestHeaders,
    LimitRequestLine,
    ParseException,
)

from .common import problem


class RequestTooSlow(Exception):
    """Its time is over, and it is not all there."""


# The first that fits. All other ways to be no HTTP are a 400, also those for which a 501 could be
# said: whoever invents a coding shall not set off the alarm for faults of the server.
_KINDS: list[tuple[tuple[type[Exception], ...], int, str, str]] = [
    ((RequestTooSlow,), 408, "request_timeout", "The request took too long to come in"),
    ((LimitRequestLine,), 414, "uri_too_long", "The request line is too long"),
    ((LimitRequestHeaders,), 431, "headers_too_large", "The request's headers are too large"),
    ((ExpectationFailed,), 417, "expectation_failed", "Nothing but 100-continue can be expected"),
    (
        (ConfigurationProblem, InvalidResponseHeader, InvalidResponseHeaderName),
        500,
        "internal_error",
        "Internal Server Error",
    ),
    ((ParseException,), 400, "bad_request", "The request is not valid HTTP/1.1"),
    ((Exception,), 500, "internal_error", "Internal Server Error"),
]


def answer(error: Exception) -> tuple[int, str, bytes]:
    """Return the status, the request id of the log line, and the bytes to send."""
    status, code, detail = next(kind[1:] for kind in _KINDS if isinstance(error, kind[0]))
    request_id, headers, body = problem(status, code, detail)
    head = "".join(f"{name}: {value}\r\n" for name, value in [*headers, ("Connection", "close")])
    line = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n"
    return status, request_id, f"{line}{head}\r\n".encode() + body
