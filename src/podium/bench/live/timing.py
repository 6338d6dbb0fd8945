"""What a live run measures: how fast pods got their nodes, and the usage of the scheduler."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from podium.bench.live.timed_scheduler import TimedScheduler
from podium.bench.live.usage import Usage
from podium.bench.live.watching import PodWatch
from podium.bench.measure import Reference
from podium.bench.result import LiveResult, median_us

# Between these quantiles of the pods the rate is steady, without start and end of the run.
_STEADY = (0.1, 0.9)


class Times:
    """The measured pods of all operations."""

    def __init__(self) -> None:
        self.pods = 0
        self.seconds = 0.0
        self.cpu_seconds: float | None = 0.0
        self.watch_breaks = 0
        self._waits: list[float] = []
        self._steady_pods = 0
        self._steady_seconds = 0.0
        self._creation_seconds = 0.0

    @contextmanager
    def measuring(
        self,
        keys: Sequence[str],
        watch: PodWatch,
        scheduler: TimedScheduler,
        begun: float | None = None,
    ) -> Iterator[None]:
        """Measure these pods, which are bound inside the block.

        Each is timed from its creation; pods that were created before, from ``begun``.
        """
        before, watches = scheduler.usage(), watch.watches
        yield
        self.watch_breaks += watch.watches - watches
        self._add_cpu(before, scheduler.usage())
        keys = [key for key in keys if key in watch.bound]  # deleted pods may not be
        created = [watch.created[key] for key in keys]
        self.add(created, [watch.bound[key] for key in keys], begun)

    def _add_cpu(self, before: Usage | None, after: Usage | None) -> None:
        if before is None or after is None:
            self.cpu_seconds = None
        elif self.cpu_seconds is not None:
            self.cpu_seconds += after.cpu_seconds - before.cpu_seconds

    def add(
        self, created: Sequence[float], bound: Sequence[float], begun: float | None = None
    ) -> None:
        """Add pods, given by the times of their creation and of their binding.

        With ``begun`` this is when they began to wait, instead of their creation.
        """
        if not created:
            return
        self.pods += len(created)
        self._creation_seconds += max(created) - min(created)
        since = created if begun is None else [begun] * len(bound)
        self.seconds += max(bound) - min(since)
        self._waits += [end - begin for begin, end in zip(since, bound, strict=True)]
        first, last = (int(part * (len(bound) - 1)) for part in _STEADY)
        in_order = sorted(bound)
        self._steady_pods += last - first
        self._steady_seconds += in_order[last] - in_order[first]

    def result(self, name: str, nodes: int, used: Usage | None, reference: Reference) -> LiveResult:
        p50, p99 = np.percentile(self._waits, (50, 99)) * 1_000 if self._waits else (0.0, 0.0)
        return LiveResult(
            name=name,
            nodes=nodes,
            pods=self.pods,
            pods_per_second=_rate(self.pods, self.seconds),
            steady_pods_per_second=_rate(self._steady_pods, self._steady_seconds),
            created_pods_per_second=_rate(self.pods, self._creation_seconds),
            bind_p50_ms=round(float(p50), 1),
            bind_p99_ms=round(float(p99), 1),
            watch_breaks=self.watch_breaks,
            scheduler_cpu_seconds=None if used is None else round(used.cpu_seconds, 2),
            peak_memory_bytes=None if used is None else used.peak_memory_bytes,
            reference_us=median_us(reference.times),
        )


def _rate(pods: int, seconds: float) -> float:
    return round(pods / seconds, 1) if seconds else 0.0
