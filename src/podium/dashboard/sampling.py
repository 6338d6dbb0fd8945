"""Samples of a running scheduler: short reads on its thread, which other threads work on.

Taking a sample copies a few columns and counts, so that a cluster of 5,000 nodes costs well under
a millisecond. Everything that takes longer happens in ``overview.py`` and ``node_map.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from podium.api.objects import Node, Taints
from podium.cycle.record import Record
from podium.dashboard.values import Lanes
from podium.framework.cluster_devices import ClusterDevices
from podium.live.running import RunningScheduler
from podium.metrics import Metrics
from podium.state.cluster import ClusterState

RECENT = 20  # how many decisions the overview shows
MOST_CLASSES = 4  # how many device classes the map shows

Amounts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class NodeColumns:
    """The node table at one moment; all arrays are by row, and ``rows`` are the existing nodes.

    ``structure`` changes when a node comes or goes. ``requested`` and ``allocatable`` are by
    resource and row; ``devices`` has those taken and there are, by class.
    """

    structure: int
    rows: NDArray[np.intp]
    resources: tuple[str, ...]
    requested: Amounts
    allocatable: Amounts
    unschedulable: NDArray[np.bool_]
    taints: NDArray[np.intp]
    taint_values: tuple[Taints, ...]
    zones: NDArray[np.intp]
    zone_values: tuple[str, ...]
    names: tuple[str, ...]
    devices: dict[str, tuple[Amounts, Amounts]]


@dataclass(frozen=True, slots=True)
class Sample:
    """A scheduler at one moment, by the clock of its cluster."""

    at: float
    lanes: Lanes
    pods: int
    nodes: NodeColumns
    recent: Sequence[Record]  # the latest first


def take(running: RunningScheduler) -> Sample:
    """Take a sample; call this on the scheduler's thread."""
    services, queue = running.scheduler.services, running.scheduler.queue
    counts = queue.pending()
    lanes = Lanes(
        active=counts.active,
        backoff=counts.backoff,
        unschedulable=counts.unschedulable,
        gated=counts.gated,
        incomplete=counts.incomplete,
        in_flight=queue.in_flight + counts.returning,
        waiting=len(services.waiting_pods),
    )
    return Sample(
        at=services.clock.now(),
        lanes=lanes,
        pods=len(services.cluster.pods),
        nodes=columns(services.cluster, services.devices),
        recent=services.records.newest(RECENT),
    )


def columns(cluster: ClusterState, devices: ClusterDevices) -> NodeColumns:
    """Copy what the map shows of the node table."""
    table = cluster.table
    size, resources = table.size, table.resources
    rows = table.live_rows()
    classes = list(devices.classes.items())[:MOST_CLASSES]
    return NodeColumns(
        structure=table.structure,
        rows=rows,
        resources=tuple(resources.index),
        requested=resources.requested[:, :size].copy(),
        allocatable=resources.allocatable[:, :size].copy(),
        unschedulable=table.unschedulable[:size].copy(),
        taints=table.taints.numbers[:size].copy(),
        taint_values=tuple(table.taints.values),
        zones=table.zones.numbers[:size].copy(),
        zone_values=tuple(table.zones.values),
        names=table.names_by_row(),
        devices={name: devices.class_totals(each, rows) for name, each in classes},
    )


def node_objects(running: RunningScheduler) -> list[Node]:
    """Return the nodes in the order of the map; call this on the scheduler's thread."""
    table = running.scheduler.services.cluster.table
    return [node for row in table.live_rows().tolist() if (node := table.nodes[row]) is not None]


@dataclass(frozen=True, slots=True)
class Counts:
    """Counters since the scheduler started; ``waits`` are bound pods by time in the queue."""

    bound: int
    attempts: int
    waits: tuple[int, ...]


def count(metrics: Metrics) -> Counts:
    """Read the counters; from any thread."""
    attempts = metrics.schedule_attempts.series()
    waits = [series.counts.copy() for series in metrics.sli_seconds.series().values()]
    return Counts(
        bound=int(sum(n for (result, _), n in attempts.items() if result == "scheduled")),
        attempts=int(sum(attempts.values())),
        waits=tuple(map(sum, zip(*waits, strict=True))) if waits else (),
    )
