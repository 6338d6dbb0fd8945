"""Answers questions in a process of its own, so that the scheduler loses no time to them.

That process starts with the first question. It gets the objects that the scheduler has watched, and
before each further question those that have changed; it has no connection to the cluster. It ends
with the scheduler, when a question takes too long, and when nobody has asked for a while.
"""

from __future__ import annotations

import asyncio
from typing import Final, NamedTuple

from podium.dashboard.answering import Answer, Answering
from podium.dashboard.mirror import Changes, Decider, Mirror, watched_objects
from podium.framework.profile import Profile
from podium.live.asking import Asking
from podium.live.running import RunningScheduler

MOST_WAITING: Final = 8
PATIENCE_SECONDS: Final = 60
IDLE_SECONDS: Final = 600.0  # then its copy of the cluster is given back


class Overloaded(Exception):
    """Too many questions wait, or one took too long."""


class _Present(NamedTuple):
    """What the process was started for. With another configuration or plugins it is replaced.

    Other profiles with the same configuration mean that the code of a plugin was loaded again.
    """

    decider: Decider
    profiles: tuple[Profile, ...]


class Workbench:
    """Asks the other process, one question after the other; call it on one event loop.

    ``sources`` is what --plugin named; a question may take ``patience`` seconds. ``_mirror`` knows
    what the present ``_process`` was sent, so both are always replaced together.
    """

    def __init__(
        self,
        running: RunningScheduler,
        asking: Asking,
        sources: tuple[str, ...] = (),
        patience: int = PATIENCE_SECONDS,
    ) -> None:
        self._patience = patience
        self._running = running
        self._asking = asking
        self._sources = sources
        self._mirror = Mirror()
        self._process: Answering | None = None
        self._present: _Present | None = None
        self._idle: asyncio.TimerHandle | None = None
        self._turn = asyncio.Lock()
        self._waiting = 0

    @property
    def pid(self) -> int | None:
        """Return the number of the process, if there is one."""
        return None if self._process is None else self._process.pid

    async def ask(self, question: str, *args: object) -> Answer:
        """Return the answer about the cluster as it is now."""
        if self._waiting >= MOST_WAITING:
            raise Overloaded("too many questions at once")
        self._waiting += 1
        # Whoever asked may go away; the exchange with the process must still come to its end.
        return await asyncio.shield(asyncio.ensure_future(self._exchange(question, args)))

    async def _exchange(self, question: str, args: tuple[object, ...]) -> Answer:
        try:
            async with self._turn:
                return await self._asked(question, args)
        finally:
            self._waiting -= 1

    async def _asked(self, question: str, args: tuple[object, ...]) -> Answer:
        present = await self._look()
        if self._process is None or present != self._present:
            self.close()
            self._mirror, self._present = Mirror(), present
            self._process = Answering()
        process = self._process
        self._give_back_later()
        changes = await asyncio.to_thread(self._changes)
        asked = (self._patience, present.decider, changes, question, args)
        try:
            return await asyncio.to_thread(process.ask, asked)
        except (EOFError, OSError):
            if process is self._process:
                self.close()
            text = f"there was no answer within {self._patience} s, or the process has ended"
            raise Overloaded(text) from None

    async def _look(self) -> _Present:
        knows = self._running.introspection
        running = await self._asking.ask(knows.configuration)
        decider = Decider(running.content, knows.release, self._sources, running.extenders)
        return _Present(decider, tuple(self._running.profiles.values()))

    def _changes(self) -> Changes:
        return self._mirror.changes(watched_objects(self._running.watching))

    def _give_back_later(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        self._idle = asyncio.get_running_loop().call_later(IDLE_SECONDS, self.close)

    def close(self) -> None:
        """End the process, whatever it does."""
        if self._idle is not None:
            self._idle.cancel()
        if self._process is not None:
            self._process.end()
        self._process = None
