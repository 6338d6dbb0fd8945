"""The overview: rates and times over the last seconds, worked out from samples and counters."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from podium.api.times import micro_time_text
from podium.cycle.record import Record
from podium.dashboard.sampling import Counts
from podium.dashboard.values import Decision, TimeToBind

RATE_SECONDS: Final = 3.0
BIND_SECONDS: Final = 60.0
_QUANTILES: Final = (0.5, 0.9, 0.99)


@dataclass(frozen=True, slots=True)
class Rates:
    """Pods per second, and how long they took."""

    bound: float
    attempts: float
    time_to_bind: TimeToBind


class Trend:
    """Counters of the last minute; ``bounds`` are the upper bounds of their buckets.

    Times are those of a clock that only moves forward, not of a cluster with faster time.
    """

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = bounds
        self._past: deque[tuple[float, Counts]] = deque()

    def add(self, at: float, counts: Counts) -> Rates:
        """Take in the counters of this moment; return the rates up to it."""
        self._past.append((at, counts))
        while at - self._past[0][0] > BIND_SECONDS:
            self._past.popleft()
        since, before = next(each for each in self._past if at - each[0] <= RATE_SECONDS)
        seconds = max(at - since, 1e-9)
        if at == since:
            return Rates(0.0, 0.0, self._time_to_bind(at, counts))
        return Rates(
            # Counters start again when somebody resets the metrics.
            bound=round(max(counts.bound - before.bound, 0) / seconds, 1),
            attempts=round(max(counts.attempts - before.attempts, 0) / seconds, 1),
            time_to_bind=self._time_to_bind(at, counts),
        )

    def _time_to_bind(self, at: float, counts: Counts) -> TimeToBind:
        first, before = self._past[0]
        earlier = before.waits or (0,) * len(counts.waits)
        waits = [max(n - m, 0) for n, m in zip(counts.waits, earlier, strict=False)]
        if not sum(waits):
            return TimeToBind(window=round(at - first, 1))
        p50, p90, p99 = (quantile(self._bounds, waits, share) for share in _QUANTILES)
        window = round(at - first, 1)
        return TimeToBind(pods=sum(waits), window=window, p50=p50, p90=p90, p99=p99)


def quantile(bounds: Sequence[float], counts: Sequence[int], share: float) -> float:
    """Return the value below which this share lies, as Prometheus estimates it from buckets."""
    wanted, below = share * sum(counts), 0
    for number, (bound, count) in enumerate(zip(bounds, counts, strict=False)):
        if below + count >= wanted:
            start = bounds[number - 1] if number else 0.0
            return round(start + (bound - start) * (wanted - below) / max(count, 1), 6)
        below += count
    return bounds[-1]  # beyond the last bound nothing is known


def decision(record: Record) -> Decision:
    """Return an attempt in short."""
    return Decision(
        pod=record.pod,
        at=micro_time_text(record.at),
        attempt=record.attempt,
        node=record.node,
        message=record.message,
        nominated_node=record.nominated,
        seconds=round(record.seconds.get("cycle", 0.0), 6),
    )
