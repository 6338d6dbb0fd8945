"""What a run measures: the time of cycles, garbage collection, memory, and a reference time.

The garbage collector is used as in the scheduler: objects from the setup are frozen, and it runs
between slices of work, never inside a cycle.
"""

from __future__ import annotations

import gc
import resource
import sys
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter_ns

import numpy as np

_SLICE_NS = 5_000_000
_OLDER_EVERY = 10  # slices per collection of the next older generation, as Python's default
_REPEATS = 200


class Meter:
    """The cycles of the measured operations, in nanoseconds, and the time around them.

    An attempt that evicts pods counts together with the attempt that places its pod afterwards.
    Otherwise half of the cycles would be of one kind and half of the other.
    """

    def __init__(self) -> None:
        self.cycles = array("q")
        self.pauses = array("q")
        self.pods = 0
        self.elapsed_ns = 0
        self.is_on = False
        self.collector = Collector(self.pauses)
        self._unfinished: dict[str, int] = {}  # by the uid of a pod with a nomination

    @contextmanager
    def measuring(self, pods: int) -> Iterator[None]:
        """Measure this block, in which ``pods`` pods are placed."""
        with self.collector.between_slices():
            self.pods += pods
            self.is_on = True
            begin = perf_counter_ns()
            try:
                yield
            finally:
                self.elapsed_ns += perf_counter_ns() - begin
                self.is_on = False

    def attempt(self, uid: str, nanoseconds: int, *, unfinished: bool) -> None:
        """Record one cycle, if it is being measured."""
        if not self.is_on:
            return
        nanoseconds += self._unfinished.pop(uid, 0)
        if unfinished:
            self._unfinished[uid] = nanoseconds
        else:
            self.cycles.append(nanoseconds)
        self.collector.spent(nanoseconds)


class Collector:
    """Runs the garbage collector between slices of work and times it."""

    def __init__(self, pauses: array[int]) -> None:
        self._pauses = pauses
        self._used_ns = 0
        self._slices = 0
        self._begin = 0

    @contextmanager
    def between_slices(self) -> Iterator[None]:
        """In this block, collect only when ``spent`` does so, and never objects from before."""
        gc.collect()
        gc.freeze()
        gc.disable()
        gc.callbacks.append(self._time)
        try:
            yield
        finally:
            gc.callbacks.remove(self._time)
            gc.enable()
            gc.unfreeze()

    def spent(self, nanoseconds: int) -> None:
        """Count time spent on work; at the end of a slice, collect."""
        self._used_ns += nanoseconds
        if self._used_ns < _SLICE_NS:
            return
        self._used_ns = 0
        self._slices += 1
        older = (self._slices % _OLDER_EVERY == 0) + (self._slices % _OLDER_EVERY**2 == 0)
        gc.collect(older)

    def _time(self, phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            self._begin = perf_counter_ns()
        else:
            self._pauses.append(perf_counter_ns() - self._begin)


class Reference:
    """A fixed computation on the same number of nodes, timed in the process of the workload.

    It filters, scores and chooses in plain numpy. Times divided by it can be compared between
    machines.
    """

    def __init__(self, nodes: int) -> None:
        index = np.arange(max(nodes, 1), dtype=np.int64)
        self._cpu, self._memory = np.full_like(index, 4_000), np.full_like(index, 32 << 30)
        self._used_cpu, self._used_memory = index * 37 % 4_000, index * 41 % 32_768 << 20
        self._pods = index * 43 % 110
        self.times: list[int] = []

    def measure(self) -> None:
        for _ in range(_REPEATS):
            begin = perf_counter_ns()
            self._compute()
            self.times.append(perf_counter_ns() - begin)

    def _compute(self) -> int:
        free_cpu = self._cpu - self._used_cpu - 100
        free_memory = self._memory - self._used_memory - (500 << 20)
        fits = (free_cpu >= 0) & (free_memory >= 0) & (self._pods < 110)
        score = (free_cpu * 100 // self._cpu + free_memory * 100 // self._memory) // 2
        return int(np.where(fits, score, -1).argmax())


def peak_memory_bytes() -> int:
    """Return the peak resident memory of this process."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
