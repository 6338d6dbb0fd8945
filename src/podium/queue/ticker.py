"""Something to be done every so often, on fixed beats, as long as there is something to do."""

from __future__ import annotations

import math
from collections.abc import Callable

from podium.clock import Clock, Timer


class Ticker:
    """Calls ``tick`` on every beat while ``needs`` any; beats are ``origin`` + n · ``period``.

    Silent until ``start``, and while nothing needs it: an idle scheduler does not wake up. Tell
    it with ``arm`` when that may have changed.
    """

    def __init__(
        self, clock: Clock, period: float, tick: Callable[[], None], needs: Callable[[], int]
    ) -> None:
        self._clock = clock
        self._period = period
        self._tick = tick
        self._needs = needs
        self._origin: float | None = None
        self._beat = 0.0
        self._timer: Timer | None = None

    def start(self, origin: float) -> None:
        self._origin = origin
        self.arm()

    def arm(self) -> None:
        if self._origin is None or self._timer is not None or not self._needs():
            return
        beats = math.floor((self._clock.now() - self._origin) / self._period)
        self._beat = self._origin + (beats + 1) * self._period
        self._wait()

    def stop(self) -> None:
        self._origin = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wait(self) -> None:
        self._timer = self._clock.call_later(self._beat - self._clock.now(), self._on_time)

    def _on_time(self) -> None:
        # Event loops may call a hair early, and then the second would not have passed yet.
        if self._clock.now() < self._beat:
            self._wait()
            return
        self._timer = None
        self._tick()
        self.arm()
