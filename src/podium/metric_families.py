"""Counters, gauges and histograms that are cheap to update; ``metrics.py`` declares them.

An observation with prometheus-client's own types takes four times as long, and longer with a
lookup of labels. So values are kept here, and that library only formats them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import accumulate, repeat
from operator import mul
from typing import Final, Generic, TypeVar

from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.utils import floatToGoString

from podium.release import LATEST, V1_36, Release

Labels = tuple[str, ...]
S = TypeVar("S")


def exponential_buckets(start: float, factor: float, count: int) -> tuple[float, ...]:
    # Multiplied step by step, as upstream, so that the printed bounds agree to the last digit.
    return tuple(accumulate(repeat(factor, count - 1), mul, initial=start))


ALPHA: Final = {V1_36: "ALPHA"}


@dataclass(frozen=True, slots=True)
class Declaration:
    """A metric as it is declared. ``stages`` are by the first release in which it has them.

    An alpha metric that is ``deprecated`` in a release is hidden from that release on.
    """

    name: str
    help: str
    labels: Labels = ()
    buckets: tuple[float, ...] = ()
    stages: Mapping[Release, str] = field(default_factory=lambda: ALPHA)
    deprecated: Release | None = None

    def stage_in(self, release: Release) -> str:
        """Return its stage, or an empty string if the release does not have the metric."""
        return next((self.stages[at] for at in sorted(self.stages)[::-1] if at <= release), "")

    def is_hidden_in(self, release: Release) -> bool:
        return self.deprecated is not None and self.deprecated <= release

    def help_in(self, release: Release) -> str:
        """Return the help text as the release prints it."""
        note = f"(Deprecated since {self.deprecated}.0) " if self.is_hidden_in(release) else ""
        return f"[{self.stage_in(release)}] {note}{self.help}"


class Family(ABC, Generic[S]):
    """A metric and its series by label values; a metric with labels has none until first used.

    Only one thread may write a family. Any thread may read it, because copying a dict is atomic.
    """

    kind = ""

    def __init__(self, declared: Declaration, release: Release = LATEST) -> None:
        self.declared = declared
        self.help = declared.help_in(release)
        self._series: dict[Labels, S] = {}
        self.reset()

    def reset(self) -> None:
        self._series = {} if self.declared.labels else {(): self._zero()}

    def series(self) -> dict[Labels, S]:
        return self._series.copy()

    def _start(self, labels: Labels) -> S:
        """Return a new series; labels are checked only here, so that later updates stay cheap."""
        if len(labels) != len(self.declared.labels):
            wanted = ", ".join(self.declared.labels) or "none"
            raise ValueError(f"{self.declared.name} has the labels {wanted}, not {labels}")
        return self._zero()

    @abstractmethod
    def _zero(self) -> S:
        """Return the value of a new series."""

    @abstractmethod
    def to_prometheus(self) -> Metric:
        """Return it as prometheus-client formats it."""


class Counter(Family[float]):
    """A counter; with ``read_from`` its values are read from elsewhere when it is printed."""

    kind = "counter"
    _source: Callable[[], Mapping[Labels, float]] | None = None
    _at_reset: Mapping[Labels, float] = {}

    def read_from(self, source: Callable[[], Mapping[Labels, float]]) -> None:
        """Read values from ``source``, in the server's thread; it returns totals since start."""
        self._source = source

    def series(self) -> dict[Labels, float]:
        if self._source is None:
            return super().series()
        counted = {**super().series(), **self._source()}
        return {labels: n - self._at_reset.get(labels, 0) for labels, n in counted.items()}

    def reset(self) -> None:
        super().reset()
        if self._source is not None:
            self._at_reset = self._source()

    def inc(self, *labels: str, by: float = 1) -> None:
        value = self._series.get(labels)
        self._series[labels] = (self._start(labels) if value is None else value) + by

    def _zero(self) -> float:
        return 0

    def to_prometheus(self) -> Metric:
        declared = self.declared
        family = CounterMetricFamily(declared.name, self.help, labels=declared.labels)
        for labels, value in self.series().items():
            family.add_metric(labels, value)
        return family


class Gauge(Family[float]):
    """A gauge; with ``read_from`` or ``read_series_from`` it is read when it is printed."""

    kind = "gauge"
    _source: Callable[[], Mapping[Labels, float]] | None = None

    def add(self, change: float, *labels: str) -> None:
        value = self._series.get(labels)
        self._series[labels] = (self._start(labels) if value is None else value) + change

    def set(self, value: float, *labels: str) -> None:
        if labels not in self._series:
            self._start(labels)
        self._series[labels] = value

    def read_from(self, source: Callable[[], Mapping[str, float]]) -> None:
        """Read the values of a gauge with one label, by that label."""
        self._source = lambda: {(label,): value for label, value in source().items()}

    def read_series_from(self, source: Callable[[], Mapping[Labels, float]]) -> None:
        """Read values from ``source``, in the server's thread: it must not iterate over state."""
        self._source = source

    def series(self) -> dict[Labels, float]:
        return super().series() if self._source is None else dict(self._source())

    def _zero(self) -> float:
        return 0

    def reset(self) -> None:
        """Do nothing: a gauge shows a present state, which a reset does not change."""

    def to_prometheus(self) -> Metric:
        declared = self.declared
        family = GaugeMetricFamily(declared.name, self.help, labels=declared.labels)
        for labels, value in self.series().items():
            family.add_metric(labels, value)
        return family


class Distribution:
    """The number of observations in each bucket; the last bucket has no upper bound."""

    __slots__ = ("counts", "total")

    def __init__(self, buckets: int) -> None:
        self.counts = [0] * (buckets + 1)
        self.total = 0.0


class Histogram(Family[Distribution]):
    kind = "histogram"

    def __init__(self, declared: Declaration, release: Release = LATEST) -> None:
        super().__init__(declared, release)
        self._bounds = declared.buckets

    def observe(self, value: float, *labels: str, count: int = 1) -> None:
        """Observe a value, or the same value ``count`` times."""
        series = self._series.get(labels)
        if series is None:
            series = self._series[labels] = self._start(labels)
        series.counts[bisect_left(self._bounds, value)] += count
        series.total += count * value

    def _zero(self) -> Distribution:
        return Distribution(len(self.declared.buckets))

    def to_prometheus(self) -> Metric:
        declared = self.declared
        family = HistogramMetricFamily(declared.name, self.help, labels=declared.labels)
        bounds = [*map(floatToGoString, declared.buckets), "+Inf"]
        for labels, series in self.series().items():
            counts = list(accumulate(series.counts))
            family.add_metric(labels, list(zip(bounds, counts, strict=True)), series.total)
        return family
