"""Background tasks of the scheduler: bindings, status patches, what plugins spawn.

An exception in a task is logged under the task's name and ends nothing else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final

from podium.clock import Clock
from podium.logs import get_logger

log = get_logger(__name__)

# A process that ends waits this long for bindings, and then for requests to its endpoints.
DRAIN_SECONDS: Final = 5.0
REFUSAL_SECONDS: Final = 1.0


class Tasks:
    """A set of running tasks; ``drain`` waits for them and ``cancel`` ends them."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._loop: asyncio.AbstractEventLoop | None = None  # finding it is a system call
        self._running: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Event()

    def __len__(self) -> int:
        return len(self._running)

    def spawn(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
        task = self._loop.create_task(work, name=name)
        self._running.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._changed.set()
        if task.cancelled():
            return
        fault = task.exception()
        if fault is not None:
            log.error("background task failed", fault, task=task.get_name())

    def after_these(self, call: Callable[[], None]) -> None:
        """Call this once all tasks that run now have ended; at once if there are none."""
        left = set(self._running)
        if not left:
            call()

        def ended(task: asyncio.Task[None]) -> None:
            left.discard(task)
            if not left:
                call()

        for task in list(left):
            task.add_done_callback(ended)

    async def drain(self, seconds: float) -> int:
        """Wait for all tasks, but not longer than this; return how many are left."""
        is_over = False

        def end() -> None:
            nonlocal is_over
            is_over = True
            self._changed.set()

        timer = self._clock.call_later(seconds, end)
        while self._running and not is_over:
            self._changed.clear()
            await self._changed.wait()
        timer.cancel()
        return len(self._running)

    async def cancel(self) -> None:
        """Cancel all tasks and wait for them, but not long for those that ignore it."""
        for task in list(self._running):
            task.cancel()
        if await self.drain(REFUSAL_SECONDS):
            names = sorted(task.get_name() for task in self._running)
            log.warning("background tasks ignored their cancellation", tasks=names)
