"""Counters, gauges and histograms that are cheap to update; ``metrics.py`` declares them.

An observation with prometheus-client's own types takes four times as long, and longer with a
lookup of labels. So values are kept here, and that library only formats them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import accumulate, repeat
from operator import mul
from typing import Generic, TypeVar

from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.utils import floatToGoString

Labels = tuple[str, ...]
S = TypeVar("S")


def exponential_buckets(start: float, factor: float, count: int) -> tuple[float, ...]:
    # Multiplied step by step, as upstream, so that the printed bounds agree to the last digit.
    return tuple(accumulate(repeat(factor, count - 1), mul, initial=start))


@dataclass(frozen=True, slots=True)
class Declaration:
    name: str
    help: str
    labels: Labels = ()
    buckets: tuple[float, ...] = ()


class Family(ABC, Generic[S]):
    """A metric and its series by label values; a metric with labels has none until first used.

    Only one thread may write a family. Any thread may read it, because copying a dict is atomic.
    """

    kind = ""

    def __init__(self, declared: Declaration) -> None:
        self.declared = declared
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
        family = CounterMetricFamily(declared.name, declared.help, labels=declared.labels)
        for labels, value in self.series().items():
            family.add_metric(labels, value)
        return family


class Gauge(Family[float]):
    """A gauge; with ``read_from`` a gauge with one label is read when it is printed."""

    kind = "gauge"
    _source: Callable[[], Mapping[str, float]] | None = None

    def add(self, change: float, *labels: str) -> None:
        value = self._series.get(labels)
        self._series[labels] = (self._start(labels) if value is None else value) + change

    def set(self, value: float, *labels: str) -> None:
        if labels not in self._series:
            self._start(labels)
        self._series[labels] = value

    def read_from(self, source: Callable[[], Mapping[str, float]]) -> None:
        """Read values from ``source``, in the server's thread: it must not iterate over state."""
        self._source = source

    def series(self) -> dict[Labels, float]:
        if self._source is None:
            return super().series()
        return {(label,): value for label, value in self._source().items()}

    def _zero(self) -> float:
        return 0

    def reset(self) -> None:
        """Do nothing: a gauge shows a present state, which a reset does not change."""

    def to_prometheus(self) -> Metric:
        declared = self.declared
        family = GaugeMetricFamily(declared.name, declared.help, labels=declared.labels)
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

    def __init__(self, declared: Declaration) -> None:
        super().__init__(declared)
        self._bounds = declared.buckets

    def observe(self, value: float, *labels: str) -> None:
        series = self._series.get(labels)
        if series is None:
            series = self._series[labels] = self._start(labels)
        series.counts[bisect_left(self._bounds, value)] += 1
        series.total += value

    def _zero(self) -> Distribution:
        return Distribution(len(self.declared.buckets))

    def to_prometheus(self) -> Metric:
        declared = self.declared
        family = HistogramMetricFamily(declared.name, declared.help, labels=declared.labels)
        bounds = [*map(floatToGoString, declared.buckets), "+Inf"]
        for labels, series in self.series().items():
            counts = list(accumulate(series.counts))
            family.add_metric(labels, list(zip(bounds, counts, strict=True)), series.total)
        return family
