"""Metrics in Prometheus' form, summed over all workers of this server.

Where `PROMETHEUS_MULTIPROC_DIR` names a folder (gunicorn.conf.py makes one), each worker counts in
files there, so that any of them can answer for all. Counting costs a request some microseconds;
what is asked of the database is asked when Prometheus does.
"""

from __future__ import annotations

import os
import time
from typing import Any

import orjson
from flask import Flask, Response, g, request
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from sqlalchemy import Engine, QueuePool, event

from .matching import matched_route

_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
_SIGN_INS = {"auth.login": "password", "auth.idp_callback": "idp"}


class Metrics:
    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self.requests = Counter(
            "frontdesk_requests",
            "Requests by route and status.",
            ("method", "route", "status"),
            registry=registry,
        )
        self.seconds = Histogram(
            "frontdesk_request_seconds",
            "How long a request took.",
            ("route",),
            buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5),
            registry=registry,
        )
        self.logins = Counter(
            "frontdesk_logins",
            "Sign-ins by way and outcome.",
            ("way", "outcome"),
            registry=registry,
        )
        self.unasked_breaches = Counter(
            "frontdesk_unasked_breaches",
            "Passwords that were set while the list of breached ones did not answer.",
            registry=registry,
        )
        self.pool = Gauge(
            "frontdesk_pool_connections",
            "Database connections: open, in use, and the limit that a pool keeps.",
            ("state",),
            registry=registry,
            multiprocess_mode="livesum",
        )
        # Looking a child up by its labels costs more than counting does.
        self._known: dict[tuple[str, str, int], tuple[Any, Any]] = {}

    def count(self, route: str, response: Response, seconds: float) -> None:
        # Words that clients make up would each be a series of its own.
        method = request.method if request.method in _METHODS else "other"
        key = (method, route, response.status_code)
        found = self._known.get(key)
        if found is None:
            labels = (method, route, str(response.status_code))
            found = self.requests.labels(*labels), self.seconds.labels(route)
            self._known[key] = found
        found[0].inc()
        found[1].observe(seconds)
        way = _SIGN_INS.get(request.endpoint or "")
        if way is not None and request.method == "POST":
            self.logins.labels(way, _outcome(response)).inc()

    def render(self) -> bytes:
        if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
            return generate_latest(self.registry)
        everybody = CollectorRegistry()
        MultiProcessCollector(everybody)  # type: ignore[no-untyped-call]
        return generate_latest(everybody)

    def watch_pool(self, engine: Engine) -> None:
        """The pool itself is made anew when connections were lost; its listeners go along."""
        opened, used = self.pool.labels("open"), self.pool.labels("in_use")
        pool = engine.pool
        # On SQLite a pool may go past its size.
        is_bounded = engine.dialect.name == "postgresql"
        size = pool.size() if is_bounded and isinstance(pool, QueuePool) else None

        @event.listens_for(engine, "connect")
        def connect(_connection: object, _record: object) -> None:
            opened.inc()
            # Here and not above: each worker has a pool of its own, from its first connection on.
            if size is not None:
                self.pool.labels("limit").set(size)

        @event.listens_for(engine, "close")
        @event.listens_for(engine, "close_detached")
        def close(*_: object) -> None:
            opened.dec()

        @event.listens_for(engine, "checkout")
        def checkout(*_: object) -> None:
            used.inc()

        @event.listens_for(engine, "checkin")
        def checkin(*_: object) -> None:
            used.dec()


def measure(app: Flask, engine: Engine) -> Metrics:
    """Count every request of the application, whichever way it ends."""
    metrics = Metrics()
    metrics.watch_pool(engine)

    @app.before_request
    def begin() -> None:
        g.frontdesk_measured = time.perf_counter()

    @app.after_request
    def end(response: Response) -> Response:
        began = g.get("frontdesk_measured")
        seconds = 0.0 if began is None else time.perf_counter() - began
        metrics.count(matched_route(), response, seconds)
        return response

    return metrics


def _outcome(response: Response) -> str:
    if response.status_code == 200:
        return "succeeded"
    try:
        return str(orjson.loads(response.get_data())["code"])
    except (ValueError, KeyError, TypeError):
        return "failed"
