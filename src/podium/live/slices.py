"""Slices of time: after some milliseconds of work the main loop lets I/O run, and collects garbage.

Between two slices a garbage collection delays no cycle.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from time import perf_counter, thread_time
from typing import Final

from podium.clock import Clock, Timer, give_way

SLICE_SECONDS: Final = 0.005
_LONG: Final = 4  # times the usual slice


class Slices:
    """Lets I/O run when the main loop has worked for a slice of time.

    A loop that always finds work ready never yields by itself. ``between`` is called then, too,
    unless the slice was so long already that its pause would add to it.
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
        elapsed = self._timer() - self._start
        if elapsed < self._seconds:
            return
        if self._between is not None and elapsed < _LONG * self._seconds:
            self._between()
        await give_way()
        self._start = self._timer()


_MANY: Final = 10_000  # new objects after which a collection is worth its time
_LONGEST_WAIT: Final = 0.25  # freed objects hide new ones from that count
_FREEZE_AFTER: Final = 0.01  # seconds of collections
# While no pod is scheduled, lists and watches still produce garbage. But waking a loop that sleeps
# takes time: looking 50 times a second took 0.8 % of a core.
_TICK: Final = 0.1


class Collector:
    """Runs the garbage collector of the process from ``start`` to ``stop``.

    It mostly examines the youngest objects. When that has taken ten milliseconds in all, it
    examines the survivors once more and freezes them: they are never examined again. So a pause
    depends on what was allocated lately, not on the size of the cluster; examining 300,000 pods
    takes more than a second. The price is that objects in a cycle are never freed if they become
    garbage after that. Neither the state nor the queue nor the objects of the API form cycles.
    """

    def __init__(self, clock: Clock, cpu_time: Callable[[], float] = thread_time) -> None:
        self._clock = clock
        self._cpu_time = cpu_time
        self._timer: Timer | None = None
        self._collected_at = 0.0
        self._spent = 0.0  # seconds of collections since objects were last frozen

    def start(self) -> None:
        """Take over from Python; call this before the first lists, which bring most objects."""
        gc.disable()
        gc.freeze()  # modules live as long as the process
        self._tick()

    def between_slices(self) -> None:
        """Collect if enough was allocated, or some time has passed."""
        now = self._clock.now()
        if gc.get_count()[0] < _MANY and now - self._collected_at < _LONGEST_WAIT:
            return
        self._collected_at = now
        if self._spent >= _FREEZE_AFTER:
            self._spent = 0.0
            gc.collect()
            gc.freeze()
        else:
            begun = self._cpu_time()
            gc.collect(0)
            self._spent += self._cpu_time() - begun

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            gc.enable()
            gc.unfreeze()

    def _tick(self) -> None:
        self.between_slices()
        self._timer = self._clock.call_later(_TICK, self._tick)
