"""The event loop of podium's processes, and the threads beside it.

The scheduler runs on uvloop where it is installed: it took 12 % less CPU for a pod. `podium up` is
left on Python's own loop: with API server, kubelets and scheduler in one process uvloop took twice
as much.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, Final, ParamSpec, TypeVar

from podium.logs import get_logger

log = get_logger(__name__)

T = TypeVar("T")
P = ParamSpec("P")

PATIENCE_SECONDS: Final = 1.0
_abandoned: list[asyncio.Runner] = []  # a loop that is collected while open complains


def run(
    work: Coroutine[Any, Any, T], *, fast: bool = True, patience: float = PATIENCE_SECONDS
) -> T:
    """Run this as ``asyncio.run`` does, on uvloop if ``fast`` and it is installed.

    Work that refuses to be cancelled does not keep the process from ending.
    """
    runner = asyncio.Runner(loop_factory=_loop_factory() if fast else None)
    try:
        return runner.run(work)
    finally:
        _close(runner, patience)


def _close(runner: asyncio.Runner, patience: float) -> None:
    loop = runner.get_loop()
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.wait(left, timeout=patience))
    refusing = sorted(task.get_name() for task in left if not task.done())
    if refusing:
        log.warning("exiting although some tasks ignored their cancellation", tasks=refusing)
        _abandoned.append(runner)
    else:
        runner.close()


def _loop_factory() -> Any:
    try:
        import uvloop
    except ImportError:  # it does not exist for every system
        return None
    return uvloop.new_event_loop


class LoopThread:
    """The thread of the event loop on which it is built; plugins' threads hand calls to it."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()

    def call(self, function: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> None:
        """Call the function: at once on the loop's own thread, soon from any other thread."""
        if threading.get_ident() == self._thread:
            function(*args, **kwargs)
        else:
            self._loop.call_soon_threadsafe(lambda: function(*args, **kwargs))


class SideThread:
    """A thread with its own event loop, for work that goes on when the scheduler's loop is busy.

    Leader election, the server of health and metrics, and the watchdog run here. ``with
    SideThread() as side:`` ends what still runs there, and waits for it.
    """

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
        """Run this on the side thread. The caller must look at the result it returns."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def call(self, function: Callable[[], object]) -> None:
        """Call this on the side thread, soon; its result is dropped."""
        self._loop.call_soon_threadsafe(function)

    def _run(self) -> None:
        asyncio.run(self._stay())

    async def _stay(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._over = asyncio.Event()
        self._is_up.set()
        await self._over.wait()
