"""What metrics and traces see of a request: its route, and the address at which it arrived."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from flask import Flask, Response, request
from werkzeug.exceptions import NotFound

from ..core.context import EXTENSION, Context
from ..core.web.problems import handle_http_exception


def matched_route() -> str:
    """Return the route; an unknown path would be an additional label value."""
    return request.url_rule.rule if request.url_rule else "unmatched"


def is_at(bind: str, sockname: object) -> bool:
    """Whether a socket of this name belongs to `bind`; a machine has too many names to compare."""
    if isinstance(sockname, tuple):
        return bind.rpartition(":")[2] == str(sockname[1])
    return bind == f"unix:{sockname}"


def is_unheard(app: Flask, socknames: Iterable[Any]) -> bool:
    """Whether metrics are configured for an address without a listener."""
    context: Context = app.extensions[EXTENSION]
    bind = context.settings.core.METRICS_BIND
    return bind is not None and not any(is_at(bind, sockname) for sockname in socknames)


def serve_apart(app: Flask, bind: str) -> None:
    """Nothing but the metrics there, and no metrics anywhere else."""

    def keep_apart() -> Response | None:
        # Where the request came in, and not what it says about that itself.
        sock = request.environ.get("gunicorn.socket")
        is_there = sock is not None and is_at(bind, sock.getsockname())
        if is_there != (request.endpoint == "monitoring.metrics"):
            # A page's own blueprint would make a page of it.
            return handle_http_exception(NotFound())
        return None

    # Before all others: none of them may answer.
    app.before_request_funcs.setdefault(None, []).insert(0, keep_apart)
