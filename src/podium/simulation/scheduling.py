"""The running scheduler of a simulation: the real queue, loop and bindings, without a network."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from podium.api.objects import Pod
from podium.api.pod_groups import SchedulingGroup
from podium.app.group_cycles import group_parts
from podium.clock import give_way
from podium.errors import SimulationError
from podium.live.failure import FailureHandler
from podium.live.gate import Gate
from podium.live.group_scheduler import GroupScheduler
from podium.live.group_status import GroupStatuses
from podium.live.pod_status import PodStatuses
from podium.live.scheduler import Scheduler
from podium.live.slices import Slices
from podium.live.tasks import Tasks
from podium.queue.group_queue import GroupQueue
from podium.queue.scheduling_queue import SchedulingQueue
from podium.simulation.custom_objects import CUSTOM_KINDS
from podium.simulation.history import Change
from podium.simulation.kinds import NODE, POD, WATCHED, seen

if TYPE_CHECKING:
    from podium.simulation.world import World

T = TypeVar("T")

_QUIET_TURNS: Final = 10
_TURN: Final = 32  # bindings run after this many attempts
_MOST_ATTEMPTS: Final = 1000  # attempts per pod: plugins could wake one another for ever
_MOMENT: Final = 1e-6
_RESTLESS: Final = (
    "the simulation does not come to rest: pods are tried again and again without time passing; "
    "does a plugin activate pods that it rejects?"
)
_TIME_IS_UP: Final = "the simulated time is up"


class DirectGate(Gate):
    """A gate that raises what a change raises, and that any thread may use, one at a time."""

    def pass_through(self, change: Any, *args: Any, **kwargs: Any) -> None:
        if self._is_closed or self._waiting:
            self._waiting.append(partial(change, *args, **kwargs))
        else:
            change(*args, **kwargs)


class Scheduling:
    """The queue of a world, and what drives it. A world gets a new one whenever it is restored."""

    def __init__(self, world: World) -> None:
        self._world = world
        services, parts = world.core.services, world.parts
        self.queue: SchedulingQueue = parts.options.queue(
            world.clock, parts.rules, services.nominator, parts.times
        )
        self._gate = DirectGate()
        self.handlers = parts.options.handlers(
            self._gate, services, self.queue, world.core.profiles, parts.metrics, parts.events
        )
        self._on_object = {kind: self.handlers.on_object(kind) for kind in WATCHED}
        self._on_custom = {
            kind: self.handlers.on_events_only(name) for name, kind in CUSTOM_KINDS.items()
        }
        self.tasks = Tasks(world.clock)  # of plugins; replaced in each run
        self._groups = GroupStatuses(world.client, lambda name, work: self.tasks.spawn(name, work))
        self.queue.start()

    def close(self) -> None:
        """Stop the timers, and end all nominations."""
        self.queue.close()
        for queued in self.queue.pods():
            self._world.core.nominator.remove(queued.uid)

    def activate(self, pods: Iterable[Pod]) -> None:
        self._gate.pass_through(self.queue.activate, pods)

    def know_group(self, group: SchedulingGroup) -> None:
        """Take a group that the state has already."""
        if isinstance(self.queue, GroupQueue):
            self.queue.set_group(group)

    def watch(self, change: Change) -> None:
        """Take a change as the informer of its kind would report it."""
        old: Any = change.old
        new: Any = change.new
        if change.kind == POD:
            old, new = seen(old), seen(new)
            if old is not None or new is not None:
                self.handlers.on_pod(old, new)
        elif change.kind == NODE:
            self.handlers.on_node(old, new)
        elif handle := self._on_object.get(change.kind):
            handle(old, new)
        elif wake := self._on_custom.get(change.kind):
            wake(old and old.content, new and new.content)

    def run(self, seconds: float) -> int:
        """Schedule until nothing happens any more, for at most this much simulated time.

        Return the number of attempts.
        """
        return run_apart(self._settle(seconds))

    async def _settle(self, seconds: float) -> int:
        self.tasks = Tasks(self._world.clock)
        scheduler = self._scheduler()
        clock, end = self._world.clock, self._world.clock.now() + seconds
        most, attempts = _MOST_ATTEMPTS * (len(self.queue.pods()) + 1), 0
        try:
            while attempts <= most:
                attempts += await self._try_all(scheduler, most - attempts)
                step = clock.until_next()
                if self._is_at_rest(scheduler) or step is None or clock.now() + step > end:
                    return attempts
                clock.advance(step + _MOMENT)
            raise SimulationError(_RESTLESS)
        finally:
            await self._end_bindings(scheduler)

    async def _try_all(self, scheduler: Scheduler, most: int) -> int:
        """Try the pods that are due, until bindings and evictions wait for time to pass."""
        attempts, quiet, before = 0, 0, (-1, -1)
        while quiet < _QUIET_TURNS and attempts <= most:
            while attempts <= most and (queued := self.queue.pop_now()) is not None:
                attempts += 1
                await scheduler.attempt(queued)
                self._world.check()
                if attempts % _TURN == 0:
                    await give_way()
            if not (scheduler.bindings or self.tasks):
                break
            await give_way()
            now = self._world.writes, attempts
            quiet, before = (quiet + 1, before) if now == before else (0, now)
        return attempts

    def _is_at_rest(self, scheduler: Scheduler) -> bool:
        pending = self.queue.pending()
        waits = pending.active or pending.backoff or self._world.departing
        return not (waits or scheduler.bindings or self.tasks or self._has_leftovers())

    def _has_leftovers(self) -> bool:
        """Return whether pods that no event has woken will be tried in a changed cluster.

        The queue tries each pod again after five minutes.
        """
        changed, queue = self._world.changed_at, self.queue
        return any(
            max(each.timestamp, each.flushed_at) <= changed
            and queue.queue_of(each.key) == "unschedulable"
            for each in queue.pods()
        )

    async def _end_bindings(self, scheduler: Scheduler) -> None:
        """Take pods that still wait off their nodes again, so that nothing stays assumed."""
        services = self._world.core.services
        for waiting in services.waiting_pods:
            waiting.reject("", _TIME_IS_UP)
        for info in list(services.cluster.pods.values()) if scheduler.bindings else ():
            binding = services.pods_in_pre_bind.get(info.uid)
            if binding is not None:
                binding.cancel(_TIME_IS_UP)
        for _ in range(_QUIET_TURNS):
            if scheduler.bindings or self.tasks:
                await give_way()
        await scheduler.bindings.cancel()
        await self.tasks.cancel()

    def _scheduler(self) -> Scheduler:
        world, queue, gate = self._world, self.queue, self._gate
        services, parts = world.core.services, world.parts
        events = dict.fromkeys(world.core.profiles, world.events)
        statuses = PodStatuses(world.client)
        options, metrics = parts.options, parts.metrics
        given: dict[str, Any] = {
            "services": services,
            "queue": queue,
            "gate": gate,
            "binder": options.binder(services, queue, gate, statuses, events, metrics),
            "failures": FailureHandler(services, queue, statuses, events, metrics, world.pod),
            "bindings": Tasks(world.clock),
            "slices": Slices(),
            "events": events,
            "metrics": metrics,
            "calls": world.core.builder.calls,
            "waits": options.evicts_in_cycle,
            "start_cycle": world.core.start_cycle,
        }
        if not options.has_groups:
            return Scheduler(**given)
        of_groups = group_parts(world.core, options, metrics)
        return GroupScheduler(**given, groups=self._groups, **of_groups)


def run_apart(work: Coroutine[Any, Any, T]) -> T:
    """Run the work to its end; in another thread if this one has a running event loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()
