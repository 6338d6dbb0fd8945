"""Gauges of the running scheduler: how much waits, is known, is under way.

Lengths are read when somebody asks, in the thread of the server; what must be counted is counted
on the scheduler's loop every few seconds.
"""

from __future__ import annotations

from typing import Final

from podium.clock import Clock, Timer
from podium.live.tasks import Tasks
from podium.metric_families import Gauge
from podium.metrics import Metrics
from podium.queue.scheduling_queue import SchedulingQueue
from podium.state.cluster import ClusterState

COUNT_SECONDS: Final = 5.0

Values = dict[tuple[str, ...], float]


class Gauges:
    """``start`` and ``stop`` on the loop."""

    def __init__(
        self, metrics: Metrics, clock: Clock, queue: SchedulingQueue, cluster: ClusterState
    ) -> None:
        self._metrics = metrics
        self._clock = clock
        self._queue = queue
        self._timer: Timer | None = None
        metrics.pending_pods.read_from(lambda: queue.pending()._asdict())
        metrics.cache_size.read_from(
            lambda: {
                "assumed_pods": cluster.assumed_count,
                "pods": len(cluster.pods),
                "nodes": len(cluster.table.live_rows()),
            }
        )

    def follow(self, bindings: Tasks) -> None:
        self._metrics.goroutines.read_from(lambda: {"binding": len(bindings)})

    def start(self) -> None:
        self._count()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _count(self) -> None:
        events: Values = {(label,): n for label, n in self._queue.in_flight_events().items()}
        counted = self._queue.rejections().items()
        rejections: Values = {(plugin, profile): n for (plugin, profile), n in counted}
        _set_all(self._metrics.in_flight_events, events)
        _set_all(self._metrics.unschedulable_pods, rejections)
        self._timer = self._clock.call_later(COUNT_SECONDS, self._count)


def _set_all(gauge: Gauge, values: Values) -> None:
    """What is not there any more is 0 now."""
    for labels in gauge.series():
        if labels not in values:
            gauge.set(0, *labels)
    for labels, value in values.items():
        gauge.set(value, *labels)
