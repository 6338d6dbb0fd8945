"""Leader election: carries out the steps of an `Elector`, and reports when this process leads.

It runs in the side thread with its own client, so that no slow plugin and no huge list costs the
lease.
"""

from __future__ import annotations

import asyncio
import socket
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from podium.clock import Clock, Deadline, sleep
from podium.errors import ApiError, Unreachable
from podium.framework.handle import EventNote
from podium.live.election import (
    Answer,
    Create,
    Elector,
    Get,
    Leading,
    Lost,
    Step,
    Stopped,
    Update,
    Wait,
)
from podium.live.lease_lock import LeaseLock
from podium.logs import get_logger

log = get_logger(__name__)

REASON: Final = "LeaderElection"  # the reason in its events
EVENT_SECONDS: Final = 1.0  # how long the end of the process waits for its last event


def new_identity() -> str:
    return f"{socket.gethostname()}_{uuid.uuid4()}"


@dataclass(frozen=True, slots=True)
class Callbacks:
    """Called on the loop of the election, in the side thread."""

    on_leading: Callable[[], object]
    on_lost: Callable[[], object]


class LeaderElection:
    """One candidacy, from the first attempt to the release of the lease.

    ``is_leading`` may be read from any thread. Once it was true and is false again, it stays so.
    """

    def __init__(
        self, elector: Elector, lock: LeaseLock, callbacks: Callbacks, clock: Clock, component: str
    ) -> None:
        self.is_leading = False
        self.failing = elector.failing
        self._elector = elector
        self._lock = lock
        self._callbacks = callbacks
        self._clock = clock
        self._component = component  # the source of events: the first profile
        self._stop_asked = asyncio.Event()
        self._is_ending = False  # only the release is left, and a stop does not interrupt it
        self._first_event: asyncio.Task[None] | None = None

    def may_write(self) -> bool:
        """Whether this process leads, and no other can lead yet; from any thread.

        A process that was suspended leads by its own account until the election runs again.
        """
        return self.is_leading and self._clock.now() < self._elector.holds_until

    def stop(self) -> None:
        """End the candidacy; a lease that is held is released. Called on the election's loop."""
        self._stop_asked.set()

    async def run(self) -> bool:
        """Run until stopped; return whether the lease was lost, which ends the process with 1."""
        try:
            is_lost = await self._carry_out_all()
        finally:
            if self.is_leading:  # a bug or a cancellation: the lease is not renewed any more
                self._lose()
        if self._first_event is not None:
            await self._first_event
            await self._record("stopped leading")
        return is_lost

    async def _carry_out_all(self) -> bool:
        steps = self._elector.run()
        advance: Callable[[], Step] = partial(next, steps)
        while True:
            try:
                step = advance()
            except StopIteration as end:
                return bool(end.value)
            try:
                answer = await self._unless_stopped(step)
            except (ApiError, Stopped) as fault:
                advance = partial(steps.throw, fault)
            else:
                advance = partial(steps.send, answer)

    async def _unless_stopped(self, step: Step) -> Answer:
        if self._is_ending:
            return await self._carry_out(step)
        work = asyncio.ensure_future(self._carry_out(step))
        stop = asyncio.ensure_future(self._stop_asked.wait())
        try:
            await asyncio.wait({work, stop}, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return work.result()
        finally:
            await _cancel(work, stop)
        self._is_ending = True
        self.is_leading = False
        raise Stopped

    async def _carry_out(self, step: Step) -> Answer:
        match step:
            case Wait(seconds):
                await sleep(self._clock, seconds)
            case Leading():
                self.is_leading = True
                self._first_event = asyncio.ensure_future(self._record("became leader"))
                self._callbacks.on_leading()
            case Lost():
                self._lose()
            case Get() | Create() | Update():
                return await self._request(step)
        return None

    async def _request(self, step: Get | Create | Update) -> Answer:
        try:
            async with Deadline(self._clock, step.timeout):
                match step:
                    case Get():
                        return await self._lock.get()
                    case Create(record):
                        await self._lock.create(record)
                    case Update(record):
                        await self._lock.update(record)
        except TimeoutError as error:
            raise Unreachable(f"no answer within {step.timeout:.3g} s") from error
        return None

    def _lose(self) -> None:
        self._is_ending = True
        self.is_leading = False
        self._callbacks.on_lost()

    async def _record(self, what: str) -> None:
        """Write an event about it; the lease does not depend on it."""
        note = EventNote("Normal", REASON, REASON, f"{self._elector.identity} {what}")
        try:
            async with Deadline(self._clock, EVENT_SECONDS):
                await self._lock.record_event(note, self._component, self._clock)
        except (ApiError, TimeoutError) as fault:
            log.v(2, "event about leader election not written", message=note.note, why=str(fault))


async def _cancel(*tasks: asyncio.Task[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
