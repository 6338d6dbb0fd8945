"""Short calls on the scheduler's thread, made by servers that run on another one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from typing import Final, TypeVar

T = TypeVar("T")

PATIENCE_SECONDS: Final = 5.0


class SchedulerBusy(Exception):
    """The scheduler's thread did not answer in time."""


class Asking:
    """Calls functions on ``loop``, where the scheduler runs; each must take microseconds.

    So a reader sees a consistent state, and the scheduler is hardly held up.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, patience: float = PATIENCE_SECONDS) -> None:
        self._loop = loop
        self.patience = patience

    async def ask(self, function: Callable[[], T]) -> T:
        """Return the function's result; raise ``SchedulerBusy`` if that takes too long."""
        if asyncio.get_running_loop() is self._loop:
            return function()
        answer: Future[T] = Future()
        self._loop.call_soon_threadsafe(_fulfil, answer, function)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(answer), self.patience)
        except TimeoutError:
            problem = f"the scheduler is busy: it did not answer within {self.patience:g} s"
            raise SchedulerBusy(problem) from None


def _fulfil(answer: Future[T], function: Callable[[], T]) -> None:
    if not answer.set_running_or_notify_cancel():
        return  # the request has ended
    try:
        answer.set_result(function())
    except Exception as fault:
        answer.set_exception(fault)
