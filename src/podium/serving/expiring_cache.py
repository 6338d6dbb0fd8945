"""A cache of answers about tokens and rights, each valid for a while."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Final, Generic, TypeVar

from podium.clock import Clock

T = TypeVar("T")

MOST_ENTRIES: Final = 4096


class ExpiringCache(Generic[T]):
    """Keeps the answers to questions, each for its time; equal questions are asked once.

    A question that fails is not kept. Of too many answers the oldest are dropped.
    """

    def __init__(self, clock: Clock, seconds_of: Callable[[T], float]) -> None:
        self._clock = clock
        self._seconds_of = seconds_of
        self._kept: OrderedDict[Hashable, tuple[float, T]] = OrderedDict()
        self._asked: dict[Hashable, asyncio.Future[T]] = {}

    async def get(self, key: Hashable, ask: Callable[[], Awaitable[T]]) -> T:
        """Return the answer for this key: a kept one, or that of ``ask``."""
        ends, answer = self._kept.get(key, (0.0, None))
        if answer is not None and self._clock.now() < ends:
            return answer
        if key not in self._asked:
            asking = self._asked[key] = asyncio.ensure_future(ask())
            asking.add_done_callback(lambda done: self._keep(key, done))
        # The question is shared: one client that hangs up must not cancel it for the others.
        return await asyncio.shield(self._asked[key])

    def _keep(self, key: Hashable, done: asyncio.Future[T]) -> None:
        del self._asked[key]
        if done.cancelled() or done.exception() is not None:
            return
        answer = done.result()
        self._kept[key] = self._clock.now() + self._seconds_of(answer), answer
        self._kept.move_to_end(key)
        if len(self._kept) > MOST_ENTRIES:
            self._kept.popitem(last=False)
