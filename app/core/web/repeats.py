"""Repeats a request of the service whose transaction PostgreSQL has aborted.

Two transactions that wait for each other are a deadlock, of which PostgreSQL aborts one. A request
is repeated as if the client had sent it again, with new contexts and a new session, if nothing of
it has left the process: no transaction was committed, no email queued, no single-use entry of the
state store used, no listener called. Requests to an application are not repeated, because its own
functions run before and after the view.
"""

from __future__ import annotations

import logging
import random
import time
from io import BytesIO
from urllib.parse import urlencode

from flask import Flask, Request, Response, has_request_context
from sqlalchemy.exc import DBAPIError

from ..context import find_context
from ..db.sqlstates import is_repeatable, sqlstate
from ..db.transaction import has_committed
from ..request import may_repeat, unwrap_request

log = logging.getLogger(__name__)

REPEATS = 5
PAUSE_SECONDS = 0.005
_COUNT = "frontdesk.repeats"


class RepeatRequest(Exception):
    """Passes the error handlers of a request that is repeated."""


def repeat_if_possible(error: Exception) -> None:
    """Raise RepeatRequest for an error after which the current request can be repeated."""
    if isinstance(error, RepeatRequest):
        raise error
    if not isinstance(error, DBAPIError) or not is_repeatable(error) or not has_request_context():
        return
    context, current = find_context(), unwrap_request()
    if (
        context.owns_application
        and current.blueprint in context.mounted.blueprints
        and current.mimetype != "multipart/form-data"
        and current.environ.get(_COUNT, 0) < REPEATS
        and may_repeat(current)
        and not has_committed(context.session)
        and _rewind(current)
    ):
        log.info("The request is repeated after the database's error %s", sqlstate(error))
        raise RepeatRequest from error


def repeat_request(app: Flask) -> Response:
    """Run the current request again, in new contexts, and return its response."""
    environ = unwrap_request().environ
    count = environ[_COUNT] = environ.get(_COUNT, 0) + 1
    # The new session needs a connection, and the pool may have no other.
    find_context().session.close()
    # Random, so that requests that have blocked each other do not meet again.
    time.sleep(PAUSE_SECONDS * 2 ** (count - 1) * random.uniform(1, 2))  # noqa: S311
    with app.app_context(), app.request_context(environ):
        try:
            return app.full_dispatch_request()
        except Exception as error:
            return app.handle_exception(error)


def _rewind(request: Request) -> bool:
    """Have the body read again from its start; return False if it cannot be read, for example
    because the client has closed the connection."""
    try:
        body = request.get_data()
        if request.mimetype == "application/x-www-form-urlencoded":
            body = body or urlencode(list(request.form.items(multi=True))).encode()
    except Exception:
        log.debug("The body cannot be read again", exc_info=True)
        return False
    environ = request.environ
    environ["wsgi.input"], environ["CONTENT_LENGTH"] = BytesIO(body), str(len(body))
    return True
