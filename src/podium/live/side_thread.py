"""A thread with an event loop of its own, for what must go on when the scheduler's loop is busy.

Leader election, the server of health and metrics, and the watchdog run here, nothing else does.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class SideThread:
    """``with SideThread() as side:`` ends what still runs there, and waits for it."""

    def __init__(self) -> None:
        self._is_up = threading.Event()
        # A daemon: when the process must end, a request that hangs does not keep it.
        self._thread = threading.Thread(target=self._run, name="podium-side", daemon=True)

    def __enter__(self) -> SideThread:
        self._thread.start()
        self._is_up.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join()

    def spawn(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Run it there. Whoever spawns looks at the result: ``asyncio.wrap_future``."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def call(self, function: Callable[[], object]) -> None:
        """Call it there, soon; what it returns is dropped."""
        self._loop.call_soon_threadsafe(function)

    def _run(self) -> None:
        asyncio.run(self._stay())

    async def _stay(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._over = asyncio.Event()
        self._is_up.set()
        await self._over.wait()
