"""The only module that reads the time or waits. Tests move a FakeClock and never sleep."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Timer(Protocol):
    """A scheduled call; ``cancel`` prevents it."""

    def cancel(self) -> None: ...


class Clock(Protocol):
    """Returns the time in seconds since the epoch, and schedules calls."""

    def now(self) -> float: ...

    def call_later(self, seconds: float, call: Callable[[], object]) -> Timer: ...


async def give_way() -> None:
    """Let every other task that is ready run once, without waiting."""
    await asyncio.sleep(0)


async def sleep(clock: Clock, seconds: float) -> None:
    """Wait by this clock; cancelling the waiting task cancels the timer as well."""
    over: asyncio.Queue[None] = asyncio.Queue()  # unlike a future, it accepts a late call
    timer = clock.call_later(seconds, lambda: over.put_nowait(None))
    try:
        await over.get()
    finally:
        timer.cancel()


class Deadline:
    """``async with Deadline(clock, 30):`` raises TimeoutError inside after 30 seconds.

    ``extend`` starts the time again. It needs no new timer, so it may be called often.
    """

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._seconds = seconds
        self._scope = asyncio.timeout(None)  # ends the task's wait when _check reschedules it

    async def __aenter__(self) -> Deadline:
        await self._scope.__aenter__()
        self.extend()
        self._timer = self._clock.call_later(self._seconds, self._check)
        return self

    async def __aexit__(self, *exception: Any) -> None:
        self._timer.cancel()
        await self._scope.__aexit__(*exception)

    def extend(self, seconds: float | None = None) -> None:
        self._ends = self._clock.now() + (self._seconds if seconds is None else seconds)

    def expire(self) -> None:
        """End the wait as if the time were over."""
        self._scope.reschedule(0)  # long past on every event loop

    def _check(self) -> None:
        left = self._ends - self._clock.now()
        if left > 0:
            self._timer = self._clock.call_later(left, self._check)
        else:
            self.expire()


class Alarms:
    """Calls that are due after one fixed time, nearly all of which are cancelled before.

    One timer serves them all, because a timer per request costs more than what it watches over.
    Invariants: ``_due`` is in the order of its times, since each alarm gets the same time; the
    timer runs exactly while there are alarms, for the first of them or an earlier one.
    """

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._seconds = seconds
        self._due: dict[int, tuple[float, Callable[[], object]]] = {}
        self._numbers = itertools.count()
        self._timer: Timer | None = None

    def set(self, call: Callable[[], object]) -> int:
        """Call this when the time is over; ``cancel`` takes the number that is returned.

        The call must not set or cancel alarms itself.
        """
        number = next(self._numbers)
        self._due[number] = self._clock.now() + self._seconds, call
        if self._timer is None:
            self._timer = self._clock.call_later(self._seconds, self._ring)
        return number

    def cancel(self, number: int) -> None:
        """Prevent the call; harmless if it was made already."""
        self._due.pop(number, None)
        if not self._due and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _ring(self) -> None:
        while self._due:
            number, (due, call) = next(iter(self._due.items()))
            left = due - self._clock.now()
            if left > 0:
                self._timer = self._clock.call_later(left, self._ring)
                return
            del self._due[number]
            call()
        self._timer = None


class TimeLimit:
    """Ends waits that take longer than a fixed time; for the many requests on one event loop."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._alarms = Alarms(clock, seconds)
        self._loop: asyncio.AbstractEventLoop | None = None  # finding it is a system call

    async def of(self, work: Awaitable[T]) -> T:
        """Await the work in the current task; raise TimeoutError if it takes too long."""
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
        task = asyncio.current_task(self._loop)
        assert task is not None
        before, is_over = task.cancelling(), False

        def end() -> None:
            nonlocal is_over
            is_over = True
            task.cancel()

        alarm = self._alarms.set(end)
        try:
            return await work
        except asyncio.CancelledError as cancelled:
            if is_over and task.cancelling() - 1 <= before:
                raise TimeoutError from cancelled
            raise
        finally:
            self._alarms.cancel(alarm)
            if is_over:
                task.uncancel()


class LoopClock:
    """Time on the running event loop; at ``speed`` 60 a simulated minute passes each second.

    It starts at the real time unless another is given. The speed cannot change, so that scheduled
    calls stay in order.
    """

    def __init__(self, speed: float = 1.0, start: float | None = None) -> None:
        if not speed > 0:
            raise ValueError(f"the speed of time must be above 0, not {speed:g}")
        self._speed = speed
        self._start = time.time() if start is None else start
        self._loop_start = time.monotonic()  # event loops use this clock

    def now(self) -> float:
        return self._start + (time.monotonic() - self._loop_start) * self._speed

    def call_later(self, seconds: float, call: Callable[[], object]) -> Timer:
        return asyncio.get_running_loop().call_later(max(0.0, seconds) / self._speed, call)


class StillClock:
    """Real time for shells without an event loop, such as a benchmark; it cannot schedule calls."""

    def now(self) -> float:
        return time.time()

    def call_later(self, seconds: float, call: Callable[[], object]) -> Timer:
        raise RuntimeError("this shell has no event loop, so nothing in it can wait")


class _FakeTimer:
    def __init__(self, call: Callable[[], object]) -> None:
        self.call: Callable[[], object] | None = call

    def cancel(self) -> None:
        self.call = None


class FakeClock:
    """Time that only ``advance`` moves; scheduled calls happen in order on the way."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self._now = now
        self._due: list[tuple[float, int, _FakeTimer]] = []
        self._count = itertools.count()

    def now(self) -> float:
        return self._now

    def call_later(self, seconds: float, call: Callable[[], object]) -> Timer:
        timer = _FakeTimer(call)
        heapq.heappush(self._due, (self._now + max(0.0, seconds), next(self._count), timer))
        return timer

    def until_next(self) -> float | None:
        """Return the seconds until the next scheduled call, or ``None`` if there is none."""
        moment = self.next_call()
        return None if moment is None else moment - self._now

    def next_call(self) -> float | None:
        """Return the moment of the next scheduled call, or ``None`` if there is none."""
        while self._due and self._due[0][2].call is None:
            heapq.heappop(self._due)
        return self._due[0][0] if self._due else None

    def advance(self, seconds: float) -> None:
        self.move_to(self._now + seconds)

    def move_to(self, end: float) -> None:
        """Advance to a moment exactly, where adding seconds would be rounded."""
        while self._due and self._due[0][0] <= end:
            self._now, _, timer = heapq.heappop(self._due)
            if timer.call is not None:
                timer.call()
        self._now = end
