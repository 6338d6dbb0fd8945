"""Several schedulers with the same workload, in turns: the figures of each, and podium's ratios."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from podium.bench.result import LiveResult, median_of
from podium.errors import PodiumError


class Contestant(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of one scheduler; the ratios are podium's figure divided by this one's."""

    scheduler: str
    median: LiveResult | None  # None if a run failed
    runs: Sequence[LiveResult]
    error: str = ""  # why a run failed
    pods_per_second_ratio: float | None = None
    cpu_seconds_ratio: float | None = None


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """All schedulers with one workload; podium is the first."""

    name: str
    schedulers: Sequence[Contestant]

    @property
    def failures(self) -> list[str]:
        found = [one for one in self.schedulers if one.error]
        return [f"{self.name}: {one.scheduler}: {one.error}" for one in found]


class Turns:
    """Runs schedulers in turns; every second round goes the other way.

    A scheduler that fails is left out of later rounds, because it would fail again.
    """

    def __init__(self, schedulers: Sequence[str], measure: Callable[[str], LiveResult]) -> None:
        self._schedulers = schedulers
        self._measure = measure
        self._results: dict[str, list[LiveResult]] = {name: [] for name in schedulers}
        self._errors: dict[str, str] = {}

    def run(self, workload: str, rounds: int) -> Comparison:
        for number in range(rounds):
            for name in self._schedulers[:: -1 if number % 2 else 1]:
                if name not in self._errors:
                    self._run_one(name)
        first = self._median(self._schedulers[0])
        found = [self._contestant(name, first) for name in self._schedulers]
        return Comparison(name=workload, schedulers=found)

    def _run_one(self, name: str) -> None:
        try:
            self._results[name].append(self._measure(name))
        except PodiumError as error:
            self._errors[name] = str(error)

    def _median(self, name: str) -> LiveResult | None:
        return None if name in self._errors else median_of(self._results[name])

    def _contestant(self, name: str, first: LiveResult | None) -> Contestant:
        median = self._median(name)
        both = (first, median)
        rates = [None if one is None else one.pods_per_second for one in both]
        cpu = [None if one is None else one.scheduler_cpu_seconds for one in both]
        return Contestant(
            scheduler=name,
            median=median,
            runs=self._results[name],
            error=self._errors.get(name, ""),
            pods_per_second_ratio=_ratio(*rates),
            cpu_seconds_ratio=_ratio(*cpu),
        )


def _ratio(ours: float | None, theirs: float | None) -> float | None:
    return round(ours / theirs, 3) if ours is not None and theirs else None
