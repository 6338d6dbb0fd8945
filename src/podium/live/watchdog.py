"""The watchdog: notices when the event loop of the scheduler stalls, and shows where it is.

It runs on the loop of `side_thread.py` and asks the other loop for a sign of life.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from typing import Final

from podium.clock import Clock, sleep
from podium.logs import get_logger

log = get_logger(__name__)

STALL_SECONDS: Final = 10.0
LOOK_SECONDS: Final = 1.0


class Watchdog:
    """``ask`` hands a call to the watched loop, from any thread: ``loop.call_soon_threadsafe``.
    ``thread`` is the identifier of its thread."""

    def __init__(
        self,
        clock: Clock,
        ask: Callable[[Callable[[], None]], object],
        thread: int,
        limit: float = STALL_SECONDS,
    ) -> None:
        self._clock = clock
        self._ask = ask
        self._thread = thread
        self._limit = limit
        self._asked_at: float | None = None
        self._is_reported = False

    async def run(self) -> None:
        while True:
            self.look()
            await sleep(self._clock, LOOK_SECONDS)

    def look(self) -> None:
        if self._asked_at is None:
            self._asked_at = self._clock.now()
            self._is_reported = False
            self._ask(self._answer)
        elif self.failing() and not self._is_reported:
            self._is_reported = True
            log.warning(f"event loop stalls\n{stack_of(self._thread)}", seconds=self._silence())

    def failing(self) -> str | None:
        if self._silence() <= self._limit:
            return None
        return f"the event loop has not answered for {self._silence():.0f} s"

    def _answer(self) -> None:
        """On the watched loop."""
        if self._is_reported:
            log.warning("event loop goes on", seconds=self._silence())
        self._asked_at = None

    def _silence(self) -> float:
        asked_at = self._asked_at  # the other thread may answer meanwhile
        return 0.0 if asked_at is None else self._clock.now() - asked_at


def stack_of(thread: int) -> str:
    """What a thread is doing, innermost call last."""
    frame = sys._current_frames().get(thread)
    return "".join(traceback.format_stack(frame)) if frame else "its thread has ended\n"
