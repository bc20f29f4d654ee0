"""Metrics in the format of Prometheus, summed over all workers of this server.

If `PROMETHEUS_MULTIPROC_DIR` names a folder (gunicorn.conf.py creates one), each worker counts in
files there, and any worker responds with the sums. Counting takes some microseconds of a request.
The database is queried only when Prometheus scrapes the metrics.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flask import Flask, Response, g, request
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from sqlalchemy import Engine, QueuePool, event
from sqlalchemy.pool import ConnectionPoolEntry

from ..auth.actions import LOGIN_SUCCEEDED
from ..auth.proof_names import MAILED_CODE, PASSKEY, PASSWORD, PROVIDER
from ..auth.sign_in.options import PROOF
from ..broadcasts.counts import expansions_by_state, oldest_expansion
from ..core.clock import Clock
from ..core.context import find_context, service
from ..core.db.transaction import AnySession
from ..core.errors import Problem
from ..core.types import Values
from ..core.web.blueprint import Blueprint
from ..core.web.operation import anyone, hidden
from ..delivery.outbox.enqueue import CountsByChannel, counts_by_channel, oldest_pending
from .requests import matched_route

if TYPE_CHECKING:
    # Loaded only with CORE__DATABASE_READ_URL.
    from ..core.replica import Replica

log = logging.getLogger(__name__)

_FOLDER = "PROMETHEUS_MULTIPROC_DIR"

_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
_IN_USE = "frontdesk_in_use"
# The label of a sign-in by its first proof.
_WAYS = {PASSWORD: "password", PASSKEY: "passkey", MAILED_CODE: "code", PROVIDER: "idp"}


class _AllWorkers(Collector):
    def collect(self) -> Iterator[Metric]:
        yield from MultiProcessCollector.merge(_filled_files())  # type: ignore[no-untyped-call]


def _filled_files() -> list[str]:
    """Return the files of the workers. A worker that starts creates its files empty, and the
    collector cannot read these."""
    found = []
    for file in Path(os.environ[_FOLDER]).glob("*.db"):
        # Some files are removed when their worker ends.
        with suppress(FileNotFoundError):
            if file.stat().st_size:
                found.append(str(file))
    return found


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
            "Passwords that were set while the list of breached passwords did not respond.",
            registry=registry,
        )
        self.pool = Gauge(
            "frontdesk_pool_connections",
            "Database connections: open, in use, and the limit that a pool keeps.",
            ("state",),
            registry=registry,
            multiprocess_mode="livesum",
        )
        # A cache, because finding a child by its labels takes longer than counting.
        self._known: dict[tuple[str, str, int], tuple[Any, Any]] = {}

    def count(self, route: str, response: Response, seconds: float) -> None:
        # Each unknown method would be a new series.
        method = request.method if request.method in _METHODS else "other"
        key = (method, route, response.status_code)
        found = self._known.get(key)
        if found is None:
            labels = (method, route, str(response.status_code))
            found = self.requests.labels(*labels), self.seconds.labels(route)
            self._known[key] = found
        found[0].inc()
        found[1].observe(seconds)

    def count_action(self, name: str, data: Values) -> None:
        """Count a complete sign-in, by whatever route or page."""
        if name == LOGIN_SUCCEEDED.name:
            self._count_sign_in(data["proofs"][0], "succeeded")

    def count_rejection(self, problem: Problem) -> None:
        """Count a rejected sign-in."""
        if PROOF in problem.note:
            self._count_sign_in(problem.note[PROOF], problem.code)

    def _count_sign_in(self, proof: str, outcome: str) -> None:
        # An application's own proof can have any name.
        if (way := _WAYS.get(proof)) is not None:
            self.logins.labels(way, outcome).inc()

    def render(self) -> bytes:
        if _FOLDER not in os.environ:
            return generate_latest(self.registry)
        all_workers = CollectorRegistry()
        all_workers.register(_AllWorkers())
        return generate_latest(all_workers)

    def watch_pool(self, engine: Engine, prefix: str = "") -> None:
        """Watch the pool, with a prefix for the states; a pool that is created again after lost
        connections keeps the listeners."""
        opened, used = self.pool.labels(f"{prefix}open"), self.pool.labels(f"{prefix}in_use")
        pool = engine.pool
        # On SQLite a pool can exceed its size.
        is_bounded = engine.dialect.name == "postgresql"
        size = pool.size() if is_bounded and isinstance(pool, QueuePool) else None

        @event.listens_for(engine, "connect")
        def connect(_connection: object, _record: object) -> None:
            opened.inc()
            # Set here, because each worker has a separate pool from its first connection on.
            if size is not None:
                self.pool.labels(f"{prefix}limit").set(size)

        @event.listens_for(engine, "close")
        @event.listens_for(engine, "close_detached")
        def close(*_: object) -> None:
            opened.dec()

        @event.listens_for(engine, "checkout")
        def checkout(_connection: object, record: ConnectionPoolEntry, _proxy: object) -> None:
            record.info[_IN_USE] = True
            used.inc()

        @event.listens_for(engine, "checkin")
        def checkin(_connection: object, record: ConnectionPoolEntry) -> None:
            # A connection that cannot be opened again or used is checked in without a checkout.
            if record.info.pop(_IN_USE, False):
                used.dec()


def measure(app: Flask, engine: Engine) -> Metrics:
    """Count every request of the application."""
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


class DatabaseMetrics(Collector):
    """Values that are read from a database when Prometheus scrapes the metrics."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._registry.register(self)

    def describe(self) -> list[Metric]:
        """Return nothing, so that registering sends no query."""
        return []

    def render(self) -> bytes:
        return generate_latest(self._registry)


# Counting many rows is slow, and several servers are scraped for the same values.
CACHE_SECONDS = 10.0


class QueueMetrics(DatabaseMetrics):
    """Counts queued deliveries in the database, because workers can be on other machines."""

    def __init__(self, session: AnySession, clock: Clock) -> None:
        super().__init__()
        self._session = session
        self._clock = clock
        self._until = 0.0
        self._counts: CountsByChannel = {}
        self._expansions: dict[str, int] = {}
        self._age = 0.0

    def collect(self) -> Iterator[Metric]:
        if not self._refresh():
            return
        deliveries = GaugeMetricFamily(
            "frontdesk_deliveries", "Deliveries by channel and state.", labels=("channel", "state")
        )
        for channel, states in self._counts.items():
            for state, count in states.items():
                deliveries.add_metric((channel, state), count)
        yield deliveries
        expansions = GaugeMetricFamily(
            "frontdesk_expansions",
            "Large broadcasts that are being expanded (pending) or were given up (failed).",
            labels=("state",),
        )
        for state, count in self._expansions.items():
            expansions.add_metric((state,), count)
        yield expansions
        yield GaugeMetricFamily(
            "frontdesk_queue_age_seconds",
            "How long the oldest unfinished delivery or expansion has waited.",
            value=self._age,
        )

    def _refresh(self) -> bool:
        """Return whether there are values; without the database only other metrics are shown."""
        if time.monotonic() < self._until:
            return True
        try:
            self._counts = counts_by_channel(self._session)
            self._expansions = expansions_by_state(self._session)
            oldest = [oldest_pending(self._session), oldest_expansion(self._session)]
        except Exception as error:
            log.warning("Cannot count the queue: %s", type(error).__name__)
            return False
        now = self._clock.now()
        ages = ((now - since).total_seconds() for since in oldest if since)
        # An email that waits until its notification is read is due later than now.
        self._age = max([0.0, *ages])
        self._until = time.monotonic() + CACHE_SECONDS
        return True


class ReplicaMetrics(DatabaseMetrics):
    """Counts the lists that were read from the primary instead of the replica, and asks the replica
    for its lag."""

    def __init__(self, replica: Replica, registry: CollectorRegistry) -> None:
        super().__init__()
        self._replica = replica
        fallbacks = Counter(
            "frontdesk_replica_fallbacks",
            "Lists that were read from the primary instead of the replica, by reason.",
            ("reason",),
            registry=registry,
        )
        failovers = Counter(
            "frontdesk_replica_failovers",
            "How often a worker stopped reading from the replica, because it was away or behind.",
            registry=registry,
        )
        replica.when_read_from_primary.append(lambda reason: fallbacks.labels(reason).inc())
        replica.when_failed_over.append(failovers.inc)

    def collect(self) -> Iterator[Metric]:
        lag = self._replica.lag()
        if lag is not None:
            yield GaugeMetricFamily(
                "frontdesk_replica_lag_seconds",
                "How many seconds the replica is behind the primary.",
                value=lag,
            )


blueprint = Blueprint("monitoring", __name__)


@blueprint.get("/metrics")
@anyone
@hidden
def metrics() -> Response:
    """The metrics of all workers; a proxy restricts who can read them."""
    body = service(Metrics).render() + service(QueueMetrics).render()
    if find_context().replica is not None:
        body += service(ReplicaMetrics).render()
    return Response(body, content_type=CONTENT_TYPE_LATEST)
