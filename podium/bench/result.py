"""The figures of a workload: of one run, and the median of several."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import msgspec
import numpy as np

from podium.bench.measure import Meter, Reference, peak_memory_bytes


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """One line of output; the fields are the JSON's."""

    name: str
    nodes: int
    pods: int
    pods_per_second: float
    cycle_p50_us: float
    cycle_p99_us: float
    cycle_mean_us: float
    gc_pause_max_us: float
    peak_memory_bytes: int
    reference_us: float

    @property
    def ratio(self) -> float:
        """The mean cycle in units of the reference."""
        return self.cycle_mean_us / self.reference_us


_SAME_IN_ALL_RUNS = ("name", "nodes", "pods")


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
        reference_us=round(median(reference.times) / 1_000, 2),
    )


def median_of(results: Sequence[Result]) -> Result:
    """Field by field, so no field depends on which run another was typical of."""
    fields = [field for field in Result.__struct_fields__ if field not in _SAME_IN_ALL_RUNS]
    middle = {field: median(getattr(result, field) for result in results) for field in fields}
    middle["peak_memory_bytes"] = int(middle["peak_memory_bytes"])
    return msgspec.structs.replace(results[0], **middle)
