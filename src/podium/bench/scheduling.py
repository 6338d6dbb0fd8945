"""The scheduler's loop without its API server: a pod, a cycle, what follows from the outcome.

A placed pod is confirmed as a watch would; evicted pods are gone at once and their preemptor is
tried again with its nomination; other rejected pods wait until something may have made room.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter_ns

from podium.api.objects import ApiObject, Node, Pod
from podium.bench.measure import Meter
from podium.bench.pending import Pending
from podium.clock import Clock, FakeClock
from podium.cycle.offline import OfflineCore
from podium.cycle.outcome import Placed, Rejected
from podium.errors import WorkloadFailed
from podium.framework.handle import Client
from podium.framework.offline import OfflineClient
from podium.framework.profile import Profile
from podium.framework.queued_pod import QueuedPod
from podium.state.pod_info import PodInfo

SECONDS_PER_PLACED_POD = 0.001


BuildCore = Callable[[Clock, Client], OfflineCore]


class Evictions(OfflineClient):
    """A client that remembers which pods preemption deletes."""

    def take(self) -> list[Pod]:
        """The pods deleted since the last call."""
        taken, self.deleted = self.deleted, []
        return taken


class Scheduling:
    """Places pods one at a time. Time moves with every placed pod, and never by itself."""

    def __init__(self, build: BuildCore) -> None:
        self.clock = FakeClock()
        self.meter = Meter()
        self.pending = Pending()
        self.unplaced: set[str] = set()  # the pods that an operation waits for, by uid
        self._evictions = Evictions()
        self._core = build(self.clock, self._evictions)
        self.cluster = self._core.cluster

    def submit(self, pod: Pod, *, awaited: bool = False) -> None:
        """The pod was created; one that has a node needs no scheduling, a gated one gets none."""
        if pod.node_name:
            self.cluster.add_pod(pod)
            return
        if awaited:
            self.unplaced.add(pod.uid)
        status = self._profile(pod).run_pre_enqueue(pod)
        if status.ok:
            self.pending.push(QueuedPod.of(pod))
        else:
            self.pending.gate(pod, status.message)

    def run_one(self) -> bool:
        """Try the next pod; false when there is none."""
        queued = self.pending.pop()
        if queued is None:
            return False
        begin = perf_counter_ns()
        outcome = self._core.cycle(queued).run()
        took = perf_counter_ns() - begin
        evicts = isinstance(outcome, Rejected) and bool(outcome.nominate and outcome.nominate.node)
        self.meter.attempt(queued.pod.uid, took, unfinished=evicts)
        match outcome:
            case Placed():
                self._confirm(queued.pod, outcome.node_name)
            case Rejected():
                self._reject(queued, outcome)
        return True

    def run_all(self) -> None:
        """Try every pod that waits for its turn."""
        while self.run_one():
            pass

    def put(self, obj: ApiObject) -> None:
        """An object was created."""
        match obj:
            case Pod():
                self.submit(obj)
            case Node():
                self.cluster.set_node(obj)
                self.pending.wake()
            case _:
                self.cluster.set_object(obj)

    def delete(self, obj: ApiObject) -> None:
        """An object of ``put`` was deleted."""
        match obj:
            case Pod() if obj.uid in self.cluster.pods:
                self.cluster.remove_pod(obj)
                self.pending.wake()
            case Pod():
                self._core.nominator.remove(obj.uid)
                self.pending.discard(obj.uid)
            case Node():
                self.cluster.remove_node(obj.name)
            case _:
                self.cluster.remove_object(type(obj), obj.key)

    def _profile(self, pod: Pod) -> Profile:
        profile = self._core.profiles.get(pod.scheduler_name)
        if profile is None:
            reason = f'no profile is named "{pod.scheduler_name}"'
            raise WorkloadFailed(f"{pod.key} cannot be scheduled: {reason}")
        return profile

    def _confirm(self, pod: Pod, node: str) -> None:
        self.cluster.add_pod(pod.bound_to(node))
        self.unplaced.discard(pod.uid)
        self.clock.advance(SECONDS_PER_PLACED_POD)

    def _reject(self, queued: QueuedPod, outcome: Rejected) -> None:
        if outcome.nominate is not None:
            self._nominate(queued, outcome.nominate.node)
        self._core.background.run()
        evicted = self._evictions.take()
        if not evicted:
            self.pending.reject(queued, outcome.record.message)
            return
        for pod in evicted:
            self.cluster.remove_pod(pod)
        self.pending.push_first(queued)
        self.pending.wake()

    def _nominate(self, queued: QueuedPod, node: str) -> None:
        pod = queued.pod
        if node == pod.nominated_node_name:
            return
        queued.info = PodInfo(pod.nominated_to(node))
        self._core.nominator.add(queued.info)
