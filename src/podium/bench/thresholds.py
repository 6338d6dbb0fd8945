"""What a workload file expects of a result, for the machines of Kubernetes' own test runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeVar

import msgspec

from podium.bench.result import Figures

THROUGHPUT: Final = "SchedulingThroughput"


class MetricSelector(msgspec.Struct, frozen=True, rename="camel"):
    """Which figure a threshold is about; without one it is the pods per second."""

    name: str = THROUGHPUT
    labels: dict[str, str] = {}
    data_bucket: str = "Average"
    expect_lower: bool = False


class Threshold(msgspec.Struct, frozen=True):
    """The pods per second that a workload should reach."""

    value: float

    def is_reached(self, pods_per_second: float) -> bool:
        return pods_per_second >= self.value


F = TypeVar("F", bound=Figures)


def with_threshold(result: F, threshold: Threshold | None) -> F:
    """Add to a result whether it reached the threshold, if there is one."""
    if threshold is None:
        return result
    return msgspec.structs.replace(
        result,
        threshold=threshold.value,
        threshold_reached=threshold.is_reached(result.pods_per_second),
    )


def threshold_of(
    given: float | Mapping[str, float] | None, selector: MetricSelector | None
) -> Threshold | None:
    """Return the threshold to compare with, if there is one that a benchmark can compare.

    A map has a value per topic, which is a name for a set of test runs. The lowest is expected
    everywhere. Metrics of the scheduler's own process are not collected.
    """
    if selector is not None and selector.name != THROUGHPUT:
        return None
    value = min(given.values(), default=0.0) if isinstance(given, Mapping) else given
    return Threshold(value) if value else None
