"""Gauges of the running scheduler: how many pods wait, objects are known, bindings are under way.

Lengths and counts are read at each scrape, in the thread of the server; sums are computed on the
scheduler's loop every few seconds. Counts that others keep anyway, such as the calls of plugins,
are shown as metrics, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np

from podium.clock import Clock, Timer
from podium.framework.calls import EVALUATED, CallCount, Calls
from podium.live.tasks import Tasks
from podium.metric_declarations import POD_GROUP_QUEUES
from podium.metric_families import Gauge
from podium.metrics import Metrics
from podium.queue.scheduling_queue import SchedulingQueue
from podium.state.cluster import ClusterState

COUNT_SECONDS: Final = 5.0

# The names of VolumeBinding's errors in metrics, by extension point.
VOLUME_STAGES: Final = {"Filter": "predicate", "Reserve": "assume", "PreBind": "bind"}

Values = dict[tuple[str, ...], float]


class Gauges:
    """Fills the gauges; call ``start`` and ``stop`` on the scheduler's loop."""

    def __init__(
        self, metrics: Metrics, clock: Clock, queue: SchedulingQueue, cluster: ClusterState
    ) -> None:
        self._metrics = metrics
        self._clock = clock
        self._queue = queue
        self._timer: Timer | None = None
        no_groups: dict[str, float] = dict.fromkeys(POD_GROUP_QUEUES[metrics.release], 0)
        metrics.pending_pods.read_from(lambda: {**no_groups, **queue.pending()._asdict()})
        metrics.queued_entities.read_series_from(queue.entities)
        metrics.cache_size.read_from(
            lambda: {
                "assumed_pods": cluster.assumed_count,
                "pods": len(cluster.pods),
                # Not by live_rows(): that caches its answer and belongs to the loop's thread.
                "nodes": int(np.count_nonzero(cluster.table.live)),
            }
        )

    def follow(self, bindings: Tasks, calls: Mapping[str, Calls]) -> None:
        """Show bindings under way, and what the calls of plugins by profile have counted."""
        metrics = self._metrics
        metrics.goroutines.read_from(lambda: {"binding": len(bindings)})
        metrics.evaluations.read_from(lambda: _evaluations(calls))
        metrics.preemption_attempts.read_from(lambda: {(): _preemptions(calls)})
        metrics.volume_errors.read_from(lambda: _volume_errors(calls))

    def start(self) -> None:
        self._count()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _count(self) -> None:
        events: Values = {(label,): n for label, n in self._queue.in_flight_events().items()}
        counted = self._queue.inspection.rejections().items()
        rejections: Values = {(plugin, profile): n for (plugin, profile), n in counted}
        _set_all(self._metrics.in_flight_events, events)
        _set_all(self._metrics.unschedulable_pods, rejections)
        self._timer = self._clock.call_later(COUNT_SECONDS, self._count)


def _evaluations(calls: Mapping[str, Calls]) -> Values:
    return {
        (count.plugin, count.point, profile): count.evaluations
        for profile, counts in calls.items()
        for count in counts
        if count.point in EVALUATED and count.evaluations
    }


def _counts(calls: Mapping[str, Calls], plugin: str) -> Iterator[CallCount]:
    """Return the counts of one plugin in all profiles."""
    return (count for counts in calls.values() for count in counts if count.plugin == plugin)


def _preemptions(calls: Mapping[str, Calls]) -> int:
    counts = _counts(calls, "DefaultPreemption")
    return sum(count.calls for count in counts if count.point == "PostFilter")


def _volume_errors(calls: Mapping[str, Calls]) -> Values:
    found: Values = {}
    for count in _counts(calls, "VolumeBinding"):
        stage = VOLUME_STAGES.get(count.point)
        if stage is not None and count.errors:
            found[stage,] = found.get((stage,), 0) + count.errors
    return found


def _set_all(gauge: Gauge, values: Values) -> None:
    """Set the values, and every series without a value to 0."""
    for labels in gauge.series():
        if labels not in values:
            gauge.set(0, *labels)
    for labels, value in values.items():
        gauge.set(value, *labels)
