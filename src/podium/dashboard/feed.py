"""The live stream: updates for all open pages, twice a second, encoded once for all of them.

It runs on the server's thread while somebody reads. The scheduler's thread only takes samples.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import perf_counter
from typing import Final

import msgspec

from podium.clock import Clock, sleep
from podium.dashboard.desk import Desk, Follower, Look
from podium.live.asking import SchedulerBusy
from podium.logs import get_logger

log = get_logger(__name__)

TICK_SECONDS: Final = 0.5
ALIVE_SECONDS: Final = 5.0
MOST_WAITING: Final = 8  # updates; a slower reader gets the whole state instead
REST: Final = 50  # after a tick of t seconds, wait at least REST * t seconds
MOST_READERS: Final = 32

_ALIVE: Final = b"event: alive\ndata: {}\n\n"


class TooManyReaders(Exception):
    """No further reader is admitted."""


class Reader:
    """One connection that reads the stream. ``next`` returns the bytes to send."""

    def __init__(self) -> None:
        self._waiting: deque[bytes] = deque()
        self._has_some = asyncio.Event()
        self.is_behind = True  # it must get everything before the next change

    def put(self, update: bytes) -> None:
        if len(self._waiting) >= MOST_WAITING:
            self._waiting.clear()
            self.is_behind = True
            return
        self._waiting.append(update)
        self._has_some.set()

    def end(self) -> None:
        """Let ``next`` return nothing, whatever waits."""
        self._waiting.clear()
        self._waiting.append(b"")
        self._has_some.set()

    async def next(self) -> bytes:
        """Return what is to be sent; empty when the stream ends."""
        while not self._waiting:
            self._has_some.clear()
            await self._has_some.wait()
        return self._waiting.popleft()


class Feed:
    """Sends the overview and changes of the map to all readers; call it on one event loop."""

    def __init__(self, desk: Desk, clock: Clock) -> None:
        self._desk = desk
        self._follower = Follower()
        self._clock = clock
        self._readers: set[Reader] = set()
        self._task: asyncio.Task[None] | None = None
        self._sent_at = 0.0

    @asynccontextmanager
    async def reader(self) -> AsyncIterator[Reader]:
        """Read from now on, until the block ends."""
        if len(self._readers) >= MOST_READERS:
            raise TooManyReaders
        reader = Reader()
        self._readers.add(reader)
        if self._task is None or self._task.done():
            self._task = asyncio.ensure_future(self._run())
        try:
            yield reader
        finally:
            self._readers.discard(reader)

    async def close(self) -> None:
        """End all streams."""
        for reader in self._readers:
            reader.end()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _run(self) -> None:
        while self._readers:
            started = perf_counter()
            try:
                await self._tick()
            except SchedulerBusy as busy:
                self._send(_event("busy", {"error": str(busy)}))
            except Exception:
                log.error("cannot update the dashboard")
                self._send(_event("busy", {"error": "podium failed; its log has the traceback"}))
            spent = perf_counter() - started
            await sleep(self._clock, max(TICK_SECONDS, min(REST * spent, ALIVE_SECONDS)))

    async def _tick(self) -> None:
        look = await self._desk.look(self._follower)
        newcomers = [each for each in self._readers if each.is_behind or look.is_other_map]
        if len(newcomers) < len(self._readers):
            self._send_update(look, newcomers)
        if newcomers:
            whole = _event("whole", {"overview": look.overview, "map": self._follower.map.whole()})
            for reader in newcomers:
                reader.is_behind = False
                reader.put(whole)

    def _send_update(self, look: Look, newcomers: list[Reader]) -> None:
        """Send what has changed; if nothing has, a sign of life every few seconds."""
        now = self._clock.now()
        if look.is_same and now - self._sent_at < ALIVE_SECONDS:
            return
        self._sent_at = now
        update = _ALIVE
        if not look.is_same:
            update = _event("update", {"overview": look.overview, "change": look.change})
        for reader in self._readers:
            if reader not in newcomers:
                reader.put(update)

    def _send(self, update: bytes) -> None:
        for reader in self._readers:
            reader.put(update)


def _event(name: str, value: object) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (name.encode(), msgspec.json.encode(value))
