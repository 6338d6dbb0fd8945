"""The figures of a workload: those of one run, and the median of several runs."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import TypeVar

import msgspec
import numpy as np

from podium.bench.measure import Meter, Reference, peak_memory_bytes


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """What every run reports: one line of output, or the fields of the JSON."""

    name: str
    nodes: int
    pods: int
    pods_per_second: float
    reference_us: float
    peak_memory_bytes: int | None  # of the scheduler's process; None if unknown
    threshold: float | None = None  # the pods per second that the workload file expects
    threshold_reached: bool | None = None


class Result(Figures, frozen=True, kw_only=True):
    """The figures of a run in this process."""

    cycle_p50_us: float
    cycle_p99_us: float
    cycle_mean_us: float
    gc_pause_max_us: float

    @property
    def ratio(self) -> float:
        """Return the mean cycle in units of the reference time."""
        return self.cycle_mean_us / self.reference_us


class LiveResult(Figures, frozen=True, kw_only=True):
    """The figures of a run on a cluster, timed from outside."""

    steady_pods_per_second: float
    created_pods_per_second: float  # how fast the pods were created
    bind_p50_ms: float
    bind_p99_ms: float
    watch_breaks: int  # of the watch that times pods; times are exact only if it is 0
    scheduler_cpu_seconds: float | None


F = TypeVar("F", bound=Figures)

_SAME_IN_ALL_RUNS = ("name", "nodes", "pods", "watch_breaks")


def of_run(name: str, nodes: int, meter: Meter, reference: Reference) -> Result:
    cycles = np.array(meter.cycles, np.float64) / 1_000
    p50, p99 = np.percentile(cycles, (50, 99)) if len(cycles) else (0.0, 0.0)
    return Result(
        name=name,
        nodes=nodes,
        pods=meter.pods,
        pods_per_second=round(meter.pods / meter.elapsed_ns * 1e9, 1) if meter.elapsed_ns else 0.0,
        cycle_p50_us=round(float(p50), 1),
        cycle_p99_us=round(float(p99), 1),
        cycle_mean_us=round(float(cycles.mean()), 1) if len(cycles) else 0.0,
        gc_pause_max_us=round(max(meter.pauses, default=0) / 1_000, 1),
        peak_memory_bytes=peak_memory_bytes(),
        reference_us=median_us(reference.times),
    )


def median_us(nanoseconds: Sequence[int]) -> float:
    return round(median(nanoseconds) / 1_000, 2)


def median_of(results: Sequence[F]) -> F:
    """Return the median of each field separately."""
    fields = [name for name in results[0].__struct_fields__ if name not in _SAME_IN_ALL_RUNS]
    values = {name: [getattr(result, name) for result in results] for name in fields}
    # A figure that is unknown in one run is unknown in the result.
    middle = {name: None if None in found else median(found) for name, found in values.items()}
    if middle["peak_memory_bytes"] is not None:
        middle["peak_memory_bytes"] = int(middle["peak_memory_bytes"])
    breaks = [result.watch_breaks for result in results if isinstance(result, LiveResult)]
    if breaks:  # one inexact run makes the result inexact
        middle["watch_breaks"] = max(breaks)
    return msgspec.structs.replace(results[0], **middle)
