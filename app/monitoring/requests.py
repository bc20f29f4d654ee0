"""The route of a request, and the separate address for metrics."""

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
    """Return whether a socket belongs to `bind`, by the port, because a host has many names."""
    if isinstance(sockname, tuple):
        return bind.rpartition(":")[2] == str(sockname[1])
    return bind == f"unix:{sockname}"


def is_unheard(app: Flask, socknames: Iterable[Any]) -> bool:
    """Return whether metrics are configured for an address without a listener."""
    context: Context = app.extensions[EXTENSION]
    bind = context.settings.core.METRICS_BIND
    return bind is not None and not any(is_at(bind, sockname) for sockname in socknames)


def separate_metrics(app: Flask, bind: str) -> None:
    """Serve only metrics at this address, and no metrics at other addresses."""

    def check_address() -> Response | None:
        # The socket of the request, because the client chooses its headers.
        sock = request.environ.get("gunicorn.socket")
        is_there = sock is not None and is_at(bind, sock.getsockname())
        if is_there != (request.endpoint == "monitoring.metrics"):
            # Rendered here: for a page's path the console would respond with a page.
            return handle_http_exception(NotFound())
        return None

    # Before all other functions, which could respond.
    app.before_request_funcs.setdefault(None, []).insert(0, check_address)
