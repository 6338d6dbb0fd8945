"""`/metrics/slis`: the results of health checks, counted at each request for them."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.exposition import generate_latest
from prometheus_client.metrics_core import Metric

from podium.metric_declarations import HEALTH_CHECK, HEALTH_CHECKS
from podium.metric_families import Counter, Gauge


class HealthMetrics:
    """The last result of each check, and how often it has passed and failed."""

    def __init__(self) -> None:
        self.reset()
        self._registry = CollectorRegistry()
        self._registry.register(self)
        ProcessCollector(registry=self._registry)

    def observe(self, endpoint: str, check: str, reason: str | None) -> None:
        """Note the result of one check; ``reason`` says why it failed, None if it did not."""
        self._last.set(0.0 if reason else 1.0, check, endpoint)
        self._total.inc(check, "error" if reason else "success", endpoint)

    def reset(self) -> None:
        self._last = Gauge(HEALTH_CHECK)
        self._total = Counter(HEALTH_CHECKS)

    def collect(self) -> Iterator[Metric]:
        yield self._last.to_prometheus()
        yield self._total.to_prometheus()

    def text(self) -> bytes:
        return generate_latest(self._registry)
