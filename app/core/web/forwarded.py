"""Warns an operator whose CORE.TRUSTED_PROXIES does not fit the proxies in front."""

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
TOO_MANY = (
    "CORE.TRUSTED_PROXIES is {hops}, and a request arrived with {count} values in X-Forwarded-For:"
    " the values are ignored, all clients share the proxy's IP address, and wrong passwords of one"
    " client lock out others. Set CORE__TRUSTED_PROXIES to the number of proxies."
)
# A load balancer and a metrics collector ask directly, without the header.
_DIRECT = ("/health", "/health/ready", "/metrics")


def warn_of_proxies(app: Flask, hops: int) -> None:
    """Once in each process. A request that fits costs a look into its headers."""
    inner = app.wsgi_app
    unwarned = [True]

    def look(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        if unwarned and (warning := _warning(environ, hops)):
            # Of two threads that come here at once, one finds it empty.
            with suppress(IndexError):
                unwarned.pop()
                log.warning("%s", warning)
        return inner(environ, start_response)

    app.wsgi_app = look  # type: ignore[method-assign]


def _warning(environ: dict[str, Any], hops: int) -> str | None:
    values = environ.get("HTTP_X_FORWARDED_FOR")
    if not hops:
        return UNBELIEVED if values is not None else None
    count = len(values.split(",")) if values else 0
    if count >= hops or environ.get("PATH_INFO", "").endswith(_DIRECT):
        return None
    return TOO_MANY.format(hops=hops, count=count)
