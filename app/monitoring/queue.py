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

log = logging.getLogger(__name__)

# Counting very many rows takes a while; several servers may be asked for the same figures.
KEPT_SECONDS = 10.0


class QueueMetrics(Collector):
    def __init__(self, session: AnySession, clock: Clock) -> None:
        self._session = session
        self._clock = clock
        self._until = 0.0
        self._counts: CountsByChannel = {}
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
        yield GaugeMetricFamily(
            "frontdesk_queue_age_seconds",
            "How long the oldest unfinished delivery has waited.",
            value=self._age,
        )

    def _look(self) -> bool:
        """Whether there are figures; the other metrics are told when the database is away too."""
        if time.monotonic() < self._until:
            return True
        try:
            self._counts = counts_by_channel(self._session)
            oldest = oldest_waiting(self._session)
        except Exception as error:
            log.warning("The queue cannot be counted: %s", type(error).__name__)
            return False
        self._age = (self._clock.now() - oldest).total_seconds() if oldest else 0.0
        self._until = time.monotonic() + KEPT_SECONDS
        return True
