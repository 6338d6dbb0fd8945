"""Simulated time: an event loop that jumps to the next timer when nothing else is left to do.

Nothing is waited for and nothing comes from outside, so a run depends on its script alone.
"""

from __future__ import annotations

import asyncio
import contextvars
import selectors
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from contextvars import ContextVar
from typing import Any, Final, TypeVar

from podium.clock import FakeClock, Timer

T = TypeVar("T")

# The host whose code runs: its tasks and timers end or stand still together.
HOST: Final[ContextVar[str]] = ContextVar("host", default="")
# Sums of floats may miss a timer by less than this.
_MOMENT: Final = 1e-6


class _JumpingSelector(selectors.DefaultSelector):
    """Moves the clock on where a real selector would wait."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__()
        self._clock = clock

    def select(self, timeout: float | None = None) -> list[Any]:
        found = super().select(0)
        if found or (timeout is not None and timeout <= 0):
            return found
        waits = [each for each in (timeout, self._clock.until_next()) if each is not None]
        if not waits:
            raise RuntimeError("the simulation waits for something that nothing will do")
        self._clock.advance(max(min(waits), _MOMENT))
        return []


class _SimulatedLoop(asyncio.SelectorEventLoop):
    def __init__(self, clock: FakeClock) -> None:
        super().__init__(_JumpingSelector(clock))
        self._clock = clock
        self._origin = clock.now()  # small numbers: asyncio compares times to the nanosecond
        self.set_task_factory(_task_of_host)

    def time(self) -> float:
        return self._clock.now() - self._origin


_tasks_by_host: dict[str, dict[asyncio.Task[Any], None]] = {}  # in the order of their start


def _task_of_host(
    loop: asyncio.AbstractEventLoop,
    work: Coroutine[Any, Any, T] | Generator[Any, None, T],
    context: contextvars.Context | None = None,
    **options: Any,
) -> asyncio.Task[T]:
    task = asyncio.Task(work, loop=loop, context=context, **options)
    host = HOST.get() if context is None else context.get(HOST, "")
    tasks = _tasks_by_host.setdefault(host, {})
    tasks[task] = None
    task.add_done_callback(lambda done: tasks.pop(done, None))
    return task


def run(work: Coroutine[Any, Any, T], clock: FakeClock) -> T:
    """Run this to its end in simulated time; what is left of other tasks is cancelled."""
    _tasks_by_host.clear()
    with asyncio.Runner(loop_factory=lambda: _SimulatedLoop(clock)) as runner:
        return runner.run(work)


def tasks_of(host: str) -> list[asyncio.Task[Any]]:
    """Return the tasks of a host that have not ended, oldest first."""
    return [task for task in _tasks_by_host.get(host, ()) if not task.done()]


class HostClock:
    """The clock of one host. It may differ from the others, and stand still while it is frozen."""

    def __init__(self, clock: FakeClock, host: str, skew: float = 0.0) -> None:
        self._clock = clock
        self._host = host
        self.skew = skew
        self._is_frozen = False
        self._held: deque[Callable[[], None]] = deque()

    def now(self) -> float:
        return self._clock.now() + self.skew

    def call_later(self, seconds: float, call: Callable[[], object]) -> Timer:
        timer = _HostTimer(call)
        context = contextvars.copy_context()
        self._clock.call_later(seconds, lambda: self._fire(lambda: context.run(timer.fire)))
        return timer

    def _fire(self, call: Callable[[], None]) -> None:
        if self._is_frozen:
            self._held.append(call)
        else:
            call()

    def freeze(self) -> None:
        self._is_frozen = True

    def thaw(self) -> None:
        """Make the calls that fell due meanwhile, in order."""
        self._is_frozen = False
        while self._held:
            self._held.popleft()()


class _HostTimer:
    def __init__(self, call: Callable[[], object]) -> None:
        self._call: Callable[[], object] | None = call

    def cancel(self) -> None:
        self._call = None

    def fire(self) -> None:
        if self._call is not None:
            self._call()
