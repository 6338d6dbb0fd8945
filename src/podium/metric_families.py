"""Counters, gauges and histograms that cost little to observe; ``metrics.py`` declares them.

prometheus-client's own types take four times as long for an observation, and more with the lookup
of labels; so values are kept here, and that library only prints them.
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


def growing(start: float, factor: float, count: int) -> tuple[float, ...]:
    # By repeated multiplication, so that the printed bounds have upstream's last digit.
    return tuple(accumulate(repeat(factor, count - 1), mul, initial=start))


@dataclass(frozen=True, slots=True)
class Declared:
    name: str
    help: str
    labels: Labels = ()
    buckets: tuple[float, ...] = ()


class Family(ABC, Generic[S]):
    """A metric and its series by label values; a labelled one has none until first used.

    One thread writes a family. Any thread may read it: the copy of a dict is atomic.
    """

    kind = ""

    def __init__(self, declared: Declared) -> None:
        self.declared = declared
        self._series: dict[Labels, S] = {}
        self.reset()

    def reset(self) -> None:
        self._series = {} if self.declared.labels else {(): self._zero()}

    def series(self) -> dict[Labels, S]:
        return self._series.copy()

    def _start(self, labels: Labels) -> S:
        """A new series; only here are labels checked, since every later use costs nothing more."""
        if len(labels) != len(self.declared.labels):
            wanted = ", ".join(self.declared.labels) or "none"
            raise ValueError(f"{self.declared.name} has the labels {wanted}, not {labels}")
        return self._zero()

    @abstractmethod
    def _zero(self) -> S:
        """The value of a new series."""

    @abstractmethod
    def printed(self) -> Metric:
        """As prometheus-client writes it."""


class Counter(Family[float]):
    """``read_from`` makes its values be asked for when it is printed: others count them anyway."""

    kind = "counter"
    _source: Callable[[], Mapping[Labels, float]] | None = None
    _at_reset: Mapping[Labels, float] = {}

    def read_from(self, source: Callable[[], Mapping[Labels, float]]) -> None:
        """It is called in the thread of the server, and returns what was counted ever since."""
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

    def printed(self) -> Metric:
        declared = self.declared
        family = CounterMetricFamily(declared.name, declared.help, labels=declared.labels)
        for labels, value in self.series().items():
            family.add_metric(labels, value)
        return family


class Gauge(Family[float]):
    """``read_from`` makes the values of a gauge with one label be asked for when it is printed."""

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
        """It is called in the thread of the server: it may take lengths, but not iterate."""
        self._source = source

    def series(self) -> dict[Labels, float]:
        if self._source is None:
            return super().series()
        return {(label,): value for label, value in self._source().items()}

    def _zero(self) -> float:
        return 0

    def reset(self) -> None:
        """A gauge says what is, so it stays: counted on from zero it would be wrong."""

    def printed(self) -> Metric:
        declared = self.declared
        family = GaugeMetricFamily(declared.name, declared.help, labels=declared.labels)
        for labels, value in self.series().items():
            family.add_metric(labels, value)
        return family


class Distribution:
    """How many observations fell into each bucket, the last one without an upper bound."""

    __slots__ = ("counts", "total")

    def __init__(self, buckets: int) -> None:
        self.counts = [0] * (buckets + 1)
        self.total = 0.0


class Histogram(Family[Distribution]):
    kind = "histogram"

    def __init__(self, declared: Declared) -> None:
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

    def printed(self) -> Metric:
        declared = self.declared
        family = HistogramMetricFamily(declared.name, declared.help, labels=declared.labels)
        bounds = [*map(floatToGoString, declared.buckets), "+Inf"]
        for labels, series in self.series().items():
            counts = list(accumulate(series.counts))
            family.add_metric(labels, list(zip(bounds, counts, strict=True)), series.total)
        return family
