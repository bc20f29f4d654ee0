"""Telling an operator that a proxy in front says who asks, and that nobody believes it."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from flask import Flask

log = logging.getLogger(__name__)

UNBELIEVED = (
    "An X-Forwarded-For arrives and is not believed, since CORE.TRUSTED_PROXIES is 0. If a proxy is"
    " in front, all clients share its address, and wrong passwords of one lock others out: set"
    " CORE__TRUSTED_PROXIES to the number of proxies."
)


def tell_of_unbelieved_proxies(app: Flask) -> None:
    """Once in each process; a request without the header costs one look into a dict."""
    inner = app.wsgi_app
    untold = [UNBELIEVED]

    def look(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        if "HTTP_X_FORWARDED_FOR" in environ and untold:
            # Of two threads that come here at once, one finds it empty.
            with suppress(IndexError):
                log.warning("%s", untold.pop())
        return inner(environ, start_response)

    app.wsgi_app = look  # type: ignore[method-assign]
