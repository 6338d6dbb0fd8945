"""Calls a function at a fixed period, as long as there is something to do."""

from __future__ import annotations

import math
from collections.abc import Callable

from podium.clock import Clock, Timer


class Ticker:
    """Calls ``tick`` at ``origin`` + n · ``period`` while ``pending`` returns more than 0.

    No timer runs before ``start`` or while nothing is pending, so that an idle scheduler does not
    wake up. Call ``arm`` when something may have become pending.
    """

    def __init__(
        self, clock: Clock, period: float, tick: Callable[[], None], pending: Callable[[], int]
    ) -> None:
        self._clock = clock
        self._period = period
        self._tick = tick
        self._pending = pending
        self._origin: float | None = None
        self._next_tick = 0.0
        self._timer: Timer | None = None

    def start(self, origin: float) -> None:
        self._origin = origin
        self.arm()

    def arm(self) -> None:
        if self._origin is None or self._timer is not None or not self._pending():
            return
        passed = math.floor((self._clock.now() - self._origin) / self._period)
        self._next_tick = self._origin + (passed + 1) * self._period
        self._wait()

    def stop(self) -> None:
        self._origin = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wait(self) -> None:
        self._timer = self._clock.call_later(self._next_tick - self._clock.now(), self._on_time)

    def _on_time(self) -> None:
        # Event loops may call slightly early, and then the second would not have passed yet.
        if self._clock.now() < self._next_tick:
            self._wait()
            return
        self._timer = None
        self._tick()
        self.arm()
