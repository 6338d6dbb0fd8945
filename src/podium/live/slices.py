"""Slices of time: the main loop gives way to I/O when it has worked for some milliseconds."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Final

from podium.clock import give_way

SLICE_SECONDS: Final = 0.005


class Slices:
    """A loop that finds work ready never yields by itself: ``breathe`` does when it is time."""

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

    async def breathe(self) -> None:
        """Let everything else run once if this slice is used up."""
        if self._timer() - self._start < self._seconds:
            return
        if self._between is not None:
            self._between()
        await give_way()
        self._start = self._timer()
