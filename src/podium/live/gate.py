"""The gate that every change to the state and the queue passes; closed during a cycle.

Informers, bindings and timers call ``pass_through``. The main loop closes the gate around a cycle,
so that nothing changes in it even while it waits for an extender.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec

from podium.errors import InvalidObject
from podium.logs import get_logger

log = get_logger(__name__)

P = ParamSpec("P")


class Gate:
    """Makes changes at once while it is open; while it is closed they wait, in order.

    It belongs to the thread that built it, as do the state and the queue.
    """

    def __init__(self) -> None:
        self._thread = threading.get_ident()
        self._is_closed = False
        self._waiting: deque[Callable[[], None]] = deque()

    @property
    def is_closed(self) -> bool:
        return self._is_closed

    def __len__(self) -> int:
        """Return the number of changes that wait."""
        return len(self._waiting)

    def pass_through(self, change: Callable[P, None], *args: P.args, **kwargs: P.kwargs) -> None:
        """Make this change now or when the cycle ends; log what it raises."""
        if threading.get_ident() != self._thread:
            raise RuntimeError(
                "the scheduler's state belongs to its event loop; from a thread, call a plugin's"
                " handle.activate, or allow or reject of a waiting pod"
            )
        if self._is_closed or self._waiting:
            self._waiting.append(lambda: change(*args, **kwargs))
            return
        try:
            change(*args, **kwargs)
        except Exception as fault:
            _log_fault(change, fault)

    @contextmanager
    def closed(self) -> Iterator[None]:
        """Hold changes back until the block ends, then make them."""
        if self._is_closed:
            raise RuntimeError("the gate is closed already: only one cycle can run at a time")
        self._is_closed = True
        try:
            yield
        finally:
            self._is_closed = False
            self._let_through()

    def _let_through(self) -> None:
        while self._waiting:
            # Removed after it was made, so that changes it causes wait behind the others.
            try:
                self._waiting[0]()
            except Exception as fault:
                _log_fault(self._waiting[0], fault)
            finally:
                self._waiting.popleft()


def _log_fault(change: Callable[..., None], fault: Exception) -> None:
    if isinstance(fault, InvalidObject):  # its message says what and where: no traceback
        log.warning(f"invalid object ignored: {fault}")
        return
    log.error("a change to the state failed", change=getattr(change, "__qualname__", repr(change)))
