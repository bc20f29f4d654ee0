"""Renders errors as RFC 9457 problem documents."""

import logging
from functools import cache
from http import HTTPStatus
from typing import Any

import orjson
from flask import Response, has_request_context, request
from sqlalchemy.exc import DBAPIError, IntegrityError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm.exc import StaleDataError
from werkzeug.exceptions import HTTPException, InternalServerError

from ..context import find_context
from ..db.sqlstates import READ_ONLY, is_foreign_statement, sqlstate
from ..errors import (
    MISSING,
    BadRequest,
    Conflict,
    Forbidden,
    NotFound,
    Problem,
    TooLarge,
    TooManyRequests,
    Unauthorized,
    Unavailable,
    UnsupportedMediaType,
)
from ..security_log import RejectionLog
from ..types import JsonObject
from .repeats import repeat_if_possible
from .server_errors import (
    ExpectationFailed,
    LengthRequired,
    MethodNotAllowed,
    RequestTimeout,
    UriTooLong,
)

log = logging.getLogger(__name__)

PROBLEM_TYPE = "application/problem+json"

# Violations of a unique constraint and of a foreign key.
_RACES = ("23505", "23503")
_SQLITE_RACES = ("UNIQUE constraint", "FOREIGN KEY constraint")
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")

_SQLITE_OUTAGES = ("locked", "unable to open", "disk", "readonly", "full", "busy")

# As PostgreSQL's driver calls them, and as SQLite does.
_UNDEFINED = ("UndefinedTable", "UndefinedColumn")
_NO_SUCH = ("no such table", "no such column", "has no column named")

# The problems of the statuses that Flask and Werkzeug raise by themselves.
_PROBLEMS: dict[int, type[Problem]] = {
    kind.status: kind
    for kind in (
        BadRequest,
        Unauthorized,
        Forbidden,
        NotFound,
        MethodNotAllowed,
        RequestTimeout,
        Conflict,
        LengthRequired,
        TooLarge,
        UriTooLong,
        UnsupportedMediaType,
        ExpectationFailed,
        TooManyRequests,
        Problem,
    )
}


def problem_response(problem: Problem) -> Response:
    headers, members = dict(problem.headers), dict(problem.members)
    if problem.status == 401:
        reason = problem.reason if isinstance(problem, Unauthorized) else ""
        # RFC 6750, section 3.1: without a credential, no error.
        challenge = "Bearer" if reason in ("", MISSING) else 'Bearer error="invalid_token"'
        headers.setdefault("WWW-Authenticate", challenge)
        if reason:
            members["reason"] = reason
    if problem.faults:
        members["errors"] = [fault._asdict() for fault in problem.faults]
    return _render(type(problem), problem.detail, headers, members)


def answer_problem(problem: Problem) -> Response:
    """Return the response of a problem, and write a rejected request to the security log."""
    find_context().get(RejectionLog).log(problem)
    return problem_response(problem)


def handle_http_exception(error: HTTPException) -> Response:
    if error.response is not None and isinstance(error.response, Response):
        return error.response
    status = error.code or 500
    if status < 400:
        response = error.get_response()
        return response if isinstance(response, Response) else Response(response=response.response)
    phrase = HTTPStatus(status).phrase
    headers = {
        name: value
        for name, value in error.get_headers()
        if name.lower() in ("allow", "retry-after")
    }
    kind = _PROBLEMS.get(status) or _untitled(status, phrase)
    return _render(kind, _words_of(error) or phrase, headers, {})


@cache
def _untitled(code_status: int, phrase: str) -> type[Problem]:
    """Return a problem without a type URL, for a status that only an application raises."""

    class Untitled(Problem):
        status = code_status
        code = phrase.lower().replace(" ", "_").replace("-", "_")

    return Untitled


def _words_of(error: HTTPException) -> str | None:
    """Return the description of another extension's error, such as Flask-WTF's for a missing token.

    Werkzeug's descriptions contain internal details.
    """
    return None if type(error).__module__.startswith("werkzeug.") else error.description


def handle_exception(error: Exception) -> Response:
    """Handle an unexpected exception: log it in full, and show the client no details."""
    problem = known_problem(error)
    if problem is None:
        log.error("Unhandled %s on %s", type(error).__name__, request.path, exc_info=error)
        problem = Problem()
    return answer_problem(problem)


def known_problem(error: Exception) -> Problem | None:
    """Return the problem for an exception as `translate` does, and log the details.

    Raises RepeatRequest if the request can be repeated instead.
    """
    repeat_if_possible(error)
    if _lacks_something(error):
        log.error(
            "%s: the database schema is out of date. Run `flask db upgrade`, or db.create_all() if"
            " you have no migrations; `flask frontdesk doctor` lists what is missing.",
            _first_line(error),
        )
        return Problem()
    problem = translate(error)
    if problem is not None and problem.status >= 500:
        log.warning("%s: %s", problem.detail, _first_line(error))
    return problem


def translate(error: Exception) -> Problem | None:
    """Return the problem for an exception, without the driver's message, which may contain data."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, PoolTimeout) or _is_outage(error):
        return Unavailable("The database is unavailable")
    # StaleDataError: another request has deleted the row.
    if isinstance(error, StaleDataError) or _is_race(error):
        return Conflict()
    return None


def _is_race(error: Exception) -> bool:
    """Return whether another request has stored the same row, or deleted a referenced row.

    Validation cannot prevent that. All other errors of a driver are server errors.
    """
    if not isinstance(error, IntegrityError):
        return False
    if has_request_context() and request.method in _SAFE_METHODS:
        return False  # a safe method must not write
    state = sqlstate(error)
    return state in _RACES if state else any(text in str(error.orig) for text in _SQLITE_RACES)


def _lacks_something(error: Exception) -> bool:
    """Return whether a table or column is missing because the migrations were not run."""
    if not isinstance(error, DBAPIError):
        return False
    reason = str(error.orig)
    return type(error.orig).__name__ in _UNDEFINED or any(word in reason for word in _NO_SUCH)


def _is_outage(error: Exception) -> bool:
    """Return whether the database is unavailable; SQLite has few classes of errors."""
    if isinstance(error, DBAPIError) and (
        sqlstate(error) == READ_ONLY or is_foreign_statement(error)
    ):
        return True
    if not isinstance(error, (OperationalError, InterfaceError)):
        return False
    # Imported here, because it is needed only for errors on SQLite.
    import sqlite3

    if isinstance(error.orig, sqlite3.Error):
        return any(word in str(error.orig) for word in _SQLITE_OUTAGES)
    return True


def handlers() -> list[tuple[Any, Any]]:
    """Return the error handlers of blueprints and of the service."""
    return [
        (Problem, answer_problem),
        (HTTPException, handle_http_exception),
        (InternalServerError, handle_exception),
        (Exception, handle_exception),
    ]


def problem_document(kind: type[Problem], detail: str, type_url: str, **more: object) -> bytes:
    """Return the JSON of a problem; without a page for its type, the type is `about:blank`."""
    has_type = bool(type_url and kind.title)
    document = {
        "type": f"{type_url}#{kind.anchor.replace('_', '-')}" if has_type else "about:blank",
        "title": kind.title if has_type else HTTPStatus(kind.status).phrase,
        "status": kind.status,
        "detail": detail,
        "code": kind.code,
        **more,
    }
    return orjson.dumps(document)


def _render(
    kind: type[Problem], detail: str, headers: dict[str, str], more: JsonObject
) -> Response:
    type_url = find_context().settings.core.PROBLEM_TYPE_URL
    seconds = headers.get("Retry-After", "")
    # The header of another extension can be a date.
    if kind.status == 429 and seconds.isdecimal():
        more = {**more, "retry_after": int(seconds)}
    document = problem_document(kind, detail, type_url, **more)
    response = Response(document, status=kind.status, content_type=PROBLEM_TYPE)
    response.headers.update(headers)
    return response


def _first_line(error: BaseException) -> str:
    return str(error.__cause__ or error).splitlines()[0][:200]
