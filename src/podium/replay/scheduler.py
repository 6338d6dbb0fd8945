"""The scheduler of a replay: podium's event handlers, queue and cycles, without an API server.

What a binding cycle and the watch do takes no time here: a pod that is placed is bound at once.
"""

from __future__ import annotations

from collections.abc import Awaitable
from functools import partial
from typing import Protocol

import msgspec

from podium import app
from podium.api.objects import Pod
from podium.api.times import time_text
from podium.app.queue_rules import rules_of
from podium.bench.bound_claims import BoundClaims
from podium.clock import FakeClock
from podium.config.model import Configuration
from podium.cycle.outcome import Placed, Rejected, refused
from podium.cycle.record import Records, usual_budget
from podium.framework.binding import run_unreserve
from podium.framework.event_rules import event_rules
from podium.framework.queued_pod import QueuedPod
from podium.framework.registry import Registry
from podium.framework.status import Code, Status
from podium.live.event_handlers import ASSIGNED_POD_DELETE, EventHandlers
from podium.live.failure import blame, nominated
from podium.live.gate import Gate
from podium.metrics import Metrics
from podium.queue.options import QueueOptions
from podium.queue.scheduling_queue import SchedulingQueue
from podium.replay.writes import ReplayClient, Spawned

# Virtual time 0 as a date: pods that run have a start time, which preemption compares.
EPOCH = 1_700_000_000


class Follower(Protocol):
    """Receives what the scheduler decides about pods."""

    def on_bound(self, pod: Pod) -> None:
        """The pod has a node from now on."""

    def on_pending(self, pod: Pod) -> None:
        """The pod was rejected, and may have another nomination."""

    def on_evicted(self, pod: Pod) -> None:
        """Preemption deletes the pod."""

    def is_pending(self, pod: Pod) -> bool:
        """Whether the pod still waits for a node: it may have departed meanwhile."""


class VirtualScheduler:
    """Decides about the pods that ``handlers`` show it, one attempt at a time."""

    def __init__(
        self,
        configuration: Configuration,
        registry: Registry,
        seed: int,
        clock: FakeClock,
        follower: Follower,
    ) -> None:
        self.attempts = 0
        self.errors = 0  # attempts that ended in an error, as of a plugin that raises
        self._clock = clock
        self._follower = follower
        self._client = ReplayClient()
        self.spawned = Spawned()
        self.core = core = app.build(
            configuration,
            registry=registry,
            clock=clock,
            client=self._client,
            spawn=self.spawned.add,
            activate=lambda pods: self.queue.activate(pods),
            seed=seed,
            records=Records(budget=usual_budget()),
        )
        self._client.cluster = core.cluster
        self.claims = BoundClaims(core.services)
        events = event_rules(registry.release)
        rules = rules_of(core.profiles, core.services, events)
        options = QueueOptions.of(configuration, events)
        self.queue = SchedulingQueue(clock, rules, core.nominator, options)
        metrics = Metrics(release=registry.release)
        self.handlers = EventHandlers(
            Gate(), core.services, self.queue, core.profiles, metrics, events
        )

    def try_next(self) -> bool:
        """Try the next pod; return false if none is due."""
        queued = self.queue.pop_now()
        if queued is None:
            return False
        self.attempts += 1
        outcome = self.core.start_cycle(queued).run()
        match outcome:
            case Placed() as placed if placed.status.is_wait:
                waiting = self.core.services.waiting_pods.get(queued.uid)
                assert waiting is not None
                waiting.when_done(partial(self._permitted, queued, placed))
            case Placed() as placed:
                self._bind(placed)
            case Rejected() as rejected:
                self._reject(queued, rejected)
        self.settle()
        return True

    def settle(self) -> None:
        """Let the work of plugins go on, and pass on what it has written."""
        self.spawned.run()
        for pod in self._client.take_cleared():
            self._unnominate(pod)
        for pod in self._client.take_evicted():
            self._follower.on_evicted(pod)

    # --- outcomes --------------------------------------------------------------------------------

    def _bind(self, placed: Placed) -> None:
        pod = placed.target.pod
        self.claims.bind(placed.target)
        self.queue.done(pod.uid)
        bound = pod.bound_to(placed.node_name)
        start = time_text(EPOCH + self._clock.now())
        bound = msgspec.structs.replace(
            bound, status=msgspec.structs.replace(bound.status, phase="Running", start_time=start)
        )
        self.handlers.on_pod(pod, bound)
        self._follower.on_bound(bound)

    def _reject(self, queued: QueuedPod, rejected: Rejected) -> None:
        """Return the pod to the queue, as the running scheduler does."""
        self.errors += rejected.status.code is Code.ERROR
        blame(queued, rejected)
        if not self._follower.is_pending(queued.pod):
            self.queue.done(queued.uid)
            self.core.nominator.remove(queued.uid)
            return
        pod = nominated(queued.pod, rejected.nominate)
        if pod is not queued.pod:
            queued.replace(pod)
        self.queue.put_back(queued)
        self.core.nominator.add(queued.info, rejected.nominate)
        self._follower.on_pending(queued.pod)

    def _permitted(self, queued: QueuedPod, placed: Placed, status: Status) -> None:
        """Permit's wait has ended: bind the pod, or take it off its node again."""
        self.core.services.waiting_pods.remove(queued.uid)
        if status.ok:
            self._bind(placed)
            return
        for left in run_unreserve(placed.target):
            self.spawned.add("unreserve", _awaited(left))
        if self.core.cluster.is_assumed(queued.uid):
            self.core.cluster.forget(queued.uid)
        self._reject(queued, refused(status, placed.record, self.core.cluster))
        assumed = placed.target.pod.bound_to(placed.node_name)
        self.queue.on_event(ASSIGNED_POD_DELETE, assumed, None, except_uid=queued.uid)

    def _unnominate(self, pod: Pod) -> None:
        """End the nomination of a pod, because another one takes its room."""
        if self._follower.is_pending(pod):
            cleared = pod.nominated_to("")
            self.handlers.on_pod(pod, cleared)
            self._follower.on_pending(cleared)


async def _awaited(left: Awaitable[None]) -> None:
    await left
