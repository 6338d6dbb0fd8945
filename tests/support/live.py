"""The scheduler's loop on toy plugins and a fake client: no API server, no real time."""

import asyncio
from typing import Any

from podium import framework as fwk
from podium.clock import FakeClock, give_way
from podium.cycle.cycle import Cycle
from podium.cycle.extenders import Extenders
from podium.cycle.pod_classes import PodClasses
from podium.cycle.services import Services
from podium.framework.plugin import Plugin
from podium.live.binding import Binder
from podium.live.event_handlers import EventHandlers
from podium.live.failure import FailureHandler
from podium.live.gate import Gate
from podium.live.pod_status import PodStatuses
from podium.live.scheduler import Scheduler
from podium.live.slices import Slices
from podium.live.tasks import Tasks
from podium.metrics import Metrics
from podium.plugins.priority_sort import PrioritySort
from podium.queue.observation import NoObserver
from podium.queue.rules import ProfileRules
from podium.queue.scheduling_queue import SchedulingQueue
from podium.state.cluster import ClusterState
from podium.testing.builders import node
from podium.testing.handle import FakeClient, FakeEvents
from tests.support import toys

PROFILE = "default-scheduler"
ROUNDS = 30  # more than any chain of callbacks here is long


class StatusClient(FakeClient):
    """Remembers ``("status", key, reason or None, message or None, nominated node)``."""

    fault: Exception | None = None

    async def patch_pod_status(self, pod: Any, condition: Any, nominated: str | None) -> None:
        if self.fault is not None:
            raise self.fault
        told = (condition.reason, condition.message) if condition else (None, None)
        self.writes.append(("status", pod.key, *told, nominated))


class Desk:
    """One profile of these plugins. ``known`` are the pods as an informer would have them."""

    binder = Binder

    cycle = Cycle

    waits = False

    observer = NoObserver()

    def __init__(self, *plugins: Plugin, extenders: Extenders | None = None) -> None:
        self.clock = FakeClock()
        self.gate = Gate()
        self.client, self.events, self.metrics = StatusClient(), FakeEvents(), Metrics()
        self.tasks = Tasks(self.clock)
        self.cluster = ClusterState()
        self.services = Services(
            cluster=self.cluster,
            pod_classes=PodClasses(self.cluster),
            clock=self.clock,
            client=self.client,
            events={PROFILE: self.events},
            extenders=extenders or Extenders(),
            spawn=self.tasks.spawn,
            activate=lambda pods: self.gate.pass_through(self.queue.activate, pods),
        )
        self.profile = toys.profile(PrioritySort(fwk.NoArgs(), None), *plugins)
        rules = {PROFILE: ProfileRules.of(self.profile)}
        self.queue = SchedulingQueue(
            self.clock, rules, self.services.nominator, observer=self.observer
        )
        self.known: dict[str, Any] = {}
        self.handlers = EventHandlers(self.gate, self.services, self.queue, {PROFILE}, self.metrics)
        self.scheduler = self._scheduler()

    def _scheduler(self) -> Scheduler:
        events = {PROFILE: self.events}
        statuses = PodStatuses(self.client)
        return Scheduler(
            services=self.services,
            queue=self.queue,
            gate=self.gate,
            binder=self.binder(
                self.services, self.queue, self.gate, statuses, events, self.metrics
            ),
            failures=FailureHandler(
                self.services, self.queue, statuses, events, self.metrics, self.known.get
            ),
            bindings=self.tasks,
            slices=Slices(),
            events=events,
            metrics=self.metrics,
            calls={PROFILE: self.profile.calls},
            waits=self.waits or bool(self.services.extenders),
            start_cycle=lambda queued: self.cycle(self.services, self.profile, queued),
        )

    # --- what the API server would do ------------------------------------------------------------

    def see(self, pod: Any) -> None:
        """The informer shows a pod, or a new version of it."""
        old = self.known.get(pod.key)
        self.known[pod.key] = pod
        self.handlers.on_pod(old, pod)

    def lose(self, pod: Any) -> None:
        """The informer shows that the pod is gone."""
        self.handlers.on_pod(self.known.pop(pod.key), None)

    def see_bound(self, pod: Any, node_name: str) -> None:
        self.see(self.known[pod.key].bound_to(node_name))

    def see_nodes(self, *names: str) -> None:
        for name in names:
            self.handlers.on_node(None, node(name))

    # --- time ------------------------------------------------------------------------------------

    async def settle(self) -> None:
        """Let everything that can happen without time passing happen."""
        for _ in range(ROUNDS):
            await give_way()
            self.clock.advance(0)
        self.cluster.check_invariants()
        self.services.devices.check_invariants()
        self.queue.check_invariants()

    async def wait(self, seconds: float) -> None:
        self.clock.advance(seconds)
        await self.settle()

    def story(self) -> list[str]:
        """The notes of all events so far."""
        return [note.note for _, _, note in self.events.recorded]

    def statuses(self) -> list[Any]:
        return [write[2:] for write in self.client.writes if write[0] == "status"]


def play(scene, *plugins: Plugin, kind: type[Desk] = Desk, **parts: Any) -> None:
    """Run ``scene(desk)`` beside the scheduler's loop."""

    async def run() -> None:
        desk = kind(*plugins, **parts)
        desk.queue.start()
        loop = asyncio.ensure_future(desk.scheduler.run())
        try:
            await scene(desk)
        finally:
            desk.queue.close()
            await loop
            await desk.tasks.cancel()

    asyncio.run(run())
