"""Responses to requests that gunicorn rejects before the application handles them."""

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

from ..core.errors import BadRequest, Problem
from ..core.web.server_errors import ExpectationFailed as NotExpected
from ..core.web.server_errors import HeadersTooLarge, RequestTimeout, UriTooLong
from .common import problem


class RequestTooSlow(Exception):
    """The request was not complete in time."""


# The first match is used. All other invalid requests are a 400, also an unknown transfer coding: a
# 501 would trigger alerts for server errors.
_RESPONSES: list[tuple[tuple[type[Exception], ...], type[Problem], str | None]] = [
    ((RequestTooSlow,), RequestTimeout, None),
    ((LimitRequestLine,), UriTooLong, None),
    ((LimitRequestHeaders,), HeadersTooLarge, None),
    ((ExpectationFailed,), NotExpected, None),
    (
        (ConfigurationProblem, InvalidResponseHeader, InvalidResponseHeaderName),
        Problem,
        "Internal Server Error",
    ),
    ((ParseException,), BadRequest, "The request is not valid HTTP/1.1"),
    ((Exception,), Problem, "Internal Server Error"),
]


def answer(error: Exception, app: object) -> tuple[int, str, bytes]:
    """Return the status, the request id of the log line, and the bytes to send."""
    kind, detail = next(found[1:] for found in _RESPONSES if isinstance(error, found[0]))
    request_id, headers, body = problem(kind, app, detail)
    head = "".join(f"{name}: {value}\r\n" for name, value in [*headers, ("Connection", "close")])
    line = f"HTTP/1.1 {kind.status} {HTTPStatus(kind.status).phrase}\r\n"
    return kind.status, request_id, f"{line}{head}\r\n".encode() + body
