"""One thread for all work on a simulation, with a limit on what waits for it.

A simulation belongs to one thread. Requests wait in line; when too many wait, new ones are refused.
Work is stopped when its client has gone, so that the next request gets its turn.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

T = TypeVar("T")
Check = Callable[[], None]  # raises ``Stopped`` once no client waits for the result


class Busy(Exception):
    """Too many requests wait already."""


class TooSlow(Exception):
    """A request was not answered in time."""


class Stopped(Exception):
    """Ends work whose client has gone or was told that it took too long."""


class _Job(Generic[T]):
    """A function that waits for its turn, or runs. It is given ``check``, to call regularly."""

    def __init__(self, function: Callable[[Check], T]) -> None:
        self.result: Future[T] = Future()
        self.is_wanted = True
        self._function = function

    def run(self) -> None:
        if not self.result.set_running_or_notify_cancel():
            return
        try:
            self.result.set_result(self._function(self.check))
        except BaseException as fault:  # raised again where the result is awaited
            self.result.set_exception(fault)

    def check(self) -> None:
        if not self.is_wanted:
            raise Stopped


class Worker:
    """Runs functions one after the other; ``most`` may run or wait at the same time.

    Its thread is a daemon: the program can end while a function hangs.
    """

    def __init__(self, most: int, seconds: float) -> None:
        self._seconds = seconds
        self._free_slots = threading.BoundedSemaphore(most)
        self._jobs: queue.SimpleQueue[_Job[Any] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job.run()

    async def run(self, function: Callable[[Check], T]) -> T:
        """Return the function's result; raise ``Busy`` or ``TooSlow`` if there is none."""
        if not self._free_slots.acquire(blocking=False):
            raise Busy
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="podium-serve", daemon=True)
            self._thread.start()
        job = _Job(function)
        job.result.add_done_callback(lambda _: self._free_slots.release())
        self._jobs.put(job)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(job.result), self._seconds)
        except TimeoutError:
            raise TooSlow from None
        finally:
            job.is_wanted = False  # it took too long, or its client has gone

    def close(self) -> None:
        """End the thread after what waits; cancel what waits by cancelling ``run``."""
        self._jobs.put(None)
