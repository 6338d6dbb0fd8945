"""The garbage collector, run when it suits: between two slices instead of in a cycle.

What the first lists brought is long-lived and is not looked at again.
"""

from __future__ import annotations

import gc
from typing import Final

from podium.clock import Clock, Timer

_MANY: Final = 20_000  # new containers that make a collection worth while
_YOUNG_PER_OLD: Final = 20
_TICK: Final = 1.0  # while no pod is scheduled, watches still make garbage


class Collector:
    """Takes the process's collector over from ``start`` to ``stop``."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._timer: Timer | None = None
        self._young = 0

    def start(self) -> None:
        gc.collect()
        gc.freeze()
        gc.disable()
        self._tick()

    def between_slices(self) -> None:
        """Collect if enough was allocated: mostly the youngest, now and then all that is new."""
        if gc.get_count()[0] < _MANY:
            return
        self._young += 1
        is_due = self._young % _YOUNG_PER_OLD == 0
        gc.collect(2 if self._young % _YOUNG_PER_OLD**2 == 0 else 1 if is_due else 0)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            gc.enable()
            gc.unfreeze()

    def _tick(self) -> None:
        self.between_slices()
        self._timer = self._clock.call_later(_TICK, self._tick)
