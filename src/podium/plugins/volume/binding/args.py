"""VolumeBindingArgs: how long to wait for volumes, and how to score free storage."""

from __future__ import annotations

from collections.abc import Iterator

from podium.framework.args import Args, Problem, invalid
from podium.framework.resource_scoring import ShapePoint, shape_problems

MOST_FREE = (ShapePoint(utilization=0, score=10), ShapePoint(utilization=100, score=0))

_UNEXPECTED = "unexpected field `shape`, remove it or turn on the feature gate"


class BindingArgs(Args, frozen=True, rename="camel"):
    """Without StorageCapacityScoring. ``shape`` exists only to be rejected with a clear message."""

    bind_timeout_seconds: int = 600
    shape: tuple[ShapePoint, ...] | None = None

    def validate(self) -> Iterator[Problem]:
        yield from timeout_problems(self.bind_timeout_seconds)
        if self.shape is not None:
            points = ", ".join(f"{point.utilization}: {point.score}" for point in self.shape)
            text = f"Invalid value: [{points}]: {_UNEXPECTED} StorageCapacityScoring"
            yield Problem("shape", text)


class ScoringBindingArgs(Args, frozen=True, rename="camel"):
    """With StorageCapacityScoring. The default shape prefers nodes with more free storage."""

    bind_timeout_seconds: int = 600
    shape: tuple[ShapePoint, ...] = MOST_FREE

    def validate(self) -> Iterator[Problem]:
        yield from timeout_problems(self.bind_timeout_seconds)
        yield from shape_problems(self.shape, "shape")


def timeout_problems(seconds: int) -> Iterator[Problem]:
    if seconds < 0:
        detail = "invalid BindTimeoutSeconds, should not be a negative value"
        yield invalid("bindTimeoutSeconds", seconds, detail)
