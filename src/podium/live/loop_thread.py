"""The thread of the scheduler's event loop, to which plugins' threads hand their calls."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import ParamSpec

P = ParamSpec("P")


class LoopThread:
    """To be built on the loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()

    def call(self, function: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> None:
        """At once on the loop's own thread; from any other as soon as the loop comes to it."""
        if threading.get_ident() == self._thread:
            function(*args, **kwargs)
        else:
            self._loop.call_soon_threadsafe(lambda: function(*args, **kwargs))
