"""What waits to be delivered, counted where the rows are: workers may be on other machines."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from ..core.clock import Clock
from ..core.db.transaction import AnySession
from ..delivery.outbox.counts import CountsByChannel, counts_by_channel, oldest_waiting
from ..notifications.counts import expansions_by_state, oldest_expansion

log = logging.getLogger(__name__)

# Counting very many rows takes a while; several servers may be asked for the same figures.
KEPT_SECONDS = 10.0


class QueueMetrics(Collector):
    def __init__(self, session: AnySession, clock: Clock) -> None:
        self._session = session
        self._clock = clock
        self._until = 0.0
        self._counts: CountsByChannel = {}
        self._expansions: dict[str, int] = {}
        self._age = 0.0
        self._registry = CollectorRegistry()
        self._registry.register(self)

    def describe(self) -> list[Metric]:
        """Nothing, so that registering asks the database nothing."""
        return []

    def render(self) -> bytes:
        return generate_latest(self._registry)

    def collect(self) -> Iterator[Metric]:
        if not self._look():
            return
        deliveries = GaugeMetricFamily(
            "frontdesk_deliveries",
            "Deliveries by channel and state.",
            labels=("channel", "state"),
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

    def _look(self) -> bool:
        """Whether there are figures; the other metrics are told when the database is away too."""
        if time.monotonic() < self._until:
            return True
        try:
            self._counts = counts_by_channel(self._session)
            self._expansions = expansions_by_state(self._session)
            oldest = [oldest_waiting(self._session), oldest_expansion(self._session)]
        except Exception as error:
            log.warning("The queue cannot be counted: %s", type(error).__name__)
            return False
        now = self._clock.now()
        self._age = max(((now - since).total_seconds() for since in oldest if since), default=0.0)
        self._until = time.monotonic() + KEPT_SECONDS
        return True
