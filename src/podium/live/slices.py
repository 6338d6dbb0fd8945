"""Slices of time: after some milliseconds of work the main loop lets I/O run, and collects garbage.

Between two slices a garbage collection delays no cycle.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from time import perf_counter
from typing import Final

from podium.clock import Clock, Timer, give_way

SLICE_SECONDS: Final = 0.005


class Slices:
    """Lets I/O run when the main loop has worked for a slice of time.

    A loop that always finds work ready never yields by itself. ``between`` is called then, too.
    """

    def __init__(
        self,
        between: Callable[[], None] | None = None,
        seconds: float = SLICE_SECONDS,
        timer: Callable[[], float] = perf_counter,
    ) -> None:
        self._between = between
        self._seconds = seconds
        self._timer = timer
        self._start = timer()

    async def yield_to_io(self) -> None:
        """Let everything else run once if this slice of time is used up."""
        if self._timer() - self._start < self._seconds:
            return
        if self._between is not None:
            self._between()
        await give_way()
        self._start = self._timer()


_MANY: Final = 10_000  # allocations after which a collection is worth its time
_COLLECTIONS_PER_FREEZE: Final = 5
_TICK: Final = 0.02  # while no pod is scheduled, lists and watches still produce garbage


class Collector:
    """Runs the garbage collector of the process from ``start`` to ``stop``.

    Every fifth collection examines all objects, and what survives it is frozen: it is never
    examined again. So a pause depends on what was allocated lately, not on the size of the
    cluster; examining 300,000 pods takes more than a second. The price is that objects in a cycle
    are never freed if they become garbage after that. Neither the state nor the queue nor the
    objects of the API form cycles.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._timer: Timer | None = None
        self._collections = 0

    def start(self) -> None:
        """Take over from Python; call this before the first lists, which bring most objects."""
        gc.disable()
        gc.freeze()  # modules live as long as the process
        self._tick()

    def between_slices(self) -> None:
        """Collect if enough was allocated: mostly the youngest objects, sometimes all."""
        if gc.get_count()[0] < _MANY:
            return
        self._collections += 1
        if self._collections % _COLLECTIONS_PER_FREEZE == 0:
            _collect_all()
        else:
            gc.collect(0)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            gc.enable()
            gc.unfreeze()

    def _tick(self) -> None:
        self.between_slices()
        self._timer = self._clock.call_later(_TICK, self._tick)


def _collect_all() -> None:
    gc.collect()
    gc.freeze()
