"""A scheduler with all its parts, from the first list to the last binding; built by ``app``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from podium.client.event_recorder import EventSender
from podium.client.http import Connection
from podium.config.model import Configuration
from podium.framework.plugin import close
from podium.framework.profile import Profile
from podium.framework.registry import Registry
from podium.live.debugger import Debugger
from podium.live.gauges import Gauges
from podium.live.introspection import Introspection
from podium.live.scheduler import Scheduler
from podium.live.tasks import DRAIN_SECONDS, Tasks
from podium.live.watching import Watching
from podium.logs import get_logger

log = get_logger(__name__)


class Companion(Protocol):
    """Something that the leader runs beside its loop."""

    @property
    def name(self) -> str: ...
    def run(self) -> Coroutine[Any, Any, None]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningScheduler:
    """Call ``start``, ``wait_synced``; as the leader, ``catch_up`` and ``run``; then ``stop``."""

    scheduler: Scheduler
    watching: Watching
    events: EventSender
    for_events: Connection
    profiles: Mapping[str, Profile]
    debugger: Debugger
    introspection: Introspection
    gauges: Gauges
    exchange: Callable[[Configuration, Registry], None]  # replaces the plugins and settings
    watches: Tasks  # tasks that run from start to stop
    background: Tasks  # tasks of plugins and failures
    companions: Sequence[Companion] = ()
    # Gets the exception if the scheduling loop fails, which nothing restarts: see `_schedule`.
    failure: asyncio.Future[None] = field(default_factory=asyncio.Future)

    def start(self) -> None:
        """Start the watches; pods are queued, but not scheduled yet."""
        self.watches.spawn("events", self.events.run())
        self.watching.start(self.watches)

    async def wait_synced(self) -> None:
        await self.watching.wait_synced()
        log.v(3, "Handlers synced")

    async def catch_up(self) -> None:
        """Learn what the previous leader has done; call this after taking over from it."""
        await self.watching.catch_up()

    async def run(self) -> None:
        """Schedule until ``stop``."""
        self.scheduler.queue.start()
        self.gauges.start()
        for companion in self.companions:
            self.watches.spawn(companion.name, companion.run())
        await self.scheduler.run()

    def report(self) -> None:
        """Write what the scheduler knows to the log, as SIGUSR2 asks for."""
        self.scheduler.gate.pass_through(self.debugger.report)

    async def __aenter__(self) -> RunningScheduler:
        """Schedule in the background until the block ends."""
        self.start()
        await self.wait_synced()
        self.watches.spawn("scheduling", self._schedule())
        return self

    async def _schedule(self) -> None:
        """Run the scheduling loop in the background, and report its failure in ``failure``."""
        try:
            await self.run()
        except Exception as fault:
            self.failure.set_exception(fault)
            self.failure.exception()  # marks it as read: not every caller waits for it
            raise

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def stop(self, seconds: float = DRAIN_SECONDS) -> None:
        """Take no more pods, wait this long for bindings under way, then end everything."""
        self.scheduler.queue.close()
        self.gauges.stop()
        left = await self.scheduler.bindings.drain(seconds)
        if left:
            log.warning(f"cancelled {left} bindings that were still under way")
        await self.scheduler.bindings.cancel()
        await self.background.drain(seconds)
        await self.background.cancel()
        await self.events.flush(seconds)
        await self.watches.cancel()
        await self.for_events.close()
        await self.scheduler.services.extenders.close()
        for profile in self.profiles.values():
            by_name = {each.name: each for plugins in profile.plugins.values() for each in plugins}
            close(by_name.values(), profile.name)
