"""The scheduling loop without an API server: take a pod, run a cycle, apply the outcome.

A placed pod is confirmed as a watch would do. Evicted pods are removed at once, and their
preemptor is tried again with its nomination. Other rejected pods wait until a change may have made
room.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import perf_counter_ns

from podium.api.objects import ApiObject, Node, Pod
from podium.bench.bound_claims import BenchClient, BoundClaims
from podium.bench.measure import Meter
from podium.bench.pending import Pending
from podium.clock import Clock, FakeClock
from podium.cycle.offline import OfflineCore
from podium.cycle.outcome import Placed, Rejected
from podium.devices import DeviceRules
from podium.errors import WorkloadFailed
from podium.framework.handle import Client
from podium.framework.profile import Profile
from podium.framework.queued_pod import QueuedPod
from podium.state.pod_info import PodInfo

SECONDS_PER_PLACED_POD = 0.001

BuildCore = Callable[[Clock, Client], OfflineCore]


class Scheduling:
    """Places pods one at a time. Each placed pod moves the clock; operations may advance it."""

    def __init__(self, build: BuildCore) -> None:
        self.clock = FakeClock()
        self.meter = Meter()
        self.pending = Pending()
        self.unplaced: set[str] = set()  # uids of the pods that an operation waits for
        self.placed: Pod | None = None  # the last one
        self.placements = 0
        self._client = BenchClient()
        self._core = build(self.clock, self._client)
        self.cluster = self._client.cluster = self._core.cluster
        self._claims = BoundClaims(self._core.services)

    @property
    def device_rules(self) -> DeviceRules:
        return self._core.services.device_rules

    def submit(self, pod: Pod, *, awaited: bool = False) -> None:
        """Add a new pod; pods with a node and gated pods are not scheduled."""
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
        """Try the next pod; return false if there is none."""
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
                self._claims.bind(outcome.target)
                self._confirm(queued.pod, outcome.node_name)
            case Rejected():
                self._reject(queued, outcome)
        return True

    def run_all(self) -> None:
        """Try all pods that are due."""
        while self.run_one():
            pass

    def put(self, obj: ApiObject) -> None:
        """Create an object."""
        match obj:
            case Pod():
                self.submit(obj)
            case Node():
                self.cluster.set_node(obj)
                self.pending.wake()
            case _:
                self.cluster.set_object(obj)

    def update(self, obj: ApiObject) -> None:
        """Replace an object by a new version of it."""
        match obj:
            case Pod() if obj.uid in self.cluster.pods:
                self.cluster.update_pod(obj)
                self.pending.wake()
            case Pod():
                self.pending.remove(obj.uid)
                self.submit(obj)
            case _:
                self.put(obj)
                self.pending.wake()

    def pods(self, namespace: str, labels: Mapping[str, str]) -> list[Pod]:
        """Return the pods of a namespace that have these labels, with and without a node."""
        placed = (info.pod for info in self.cluster.pods.values())
        return [
            pod
            for pod in (*placed, *self.pending.pods())
            if pod.namespace == namespace and labels.items() <= pod.labels.items()
        ]

    def delete(self, obj: ApiObject) -> None:
        """Delete an object that ``put`` created; a placed pod with finalizers stays on its node."""
        match obj:
            case Pod() if obj.uid in self.cluster.pods:
                if not obj.metadata.finalizers:
                    self.cluster.remove_pod(obj)
                    self._claims.release(obj)
                    self.pending.wake()
            case Pod():
                self._core.nominator.remove(obj.uid)
                self.pending.discard(obj.uid)
                self.unplaced.discard(obj.uid)
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
        self.placed = pod.bound_to(node)
        self.placements += 1
        self.cluster.add_pod(self.placed)
        self.unplaced.discard(pod.uid)
        self.clock.advance(SECONDS_PER_PLACED_POD)

    def _reject(self, queued: QueuedPod, outcome: Rejected) -> None:
        if outcome.nominate is not None:
            self._nominate(queued, outcome.nominate.node)
        self._core.background.run()
        evicted = self._client.take_evicted()
        if not evicted:
            self.pending.reject(queued, outcome.record.message)
            return
        for pod in evicted:
            self.cluster.remove_pod(pod)
            self._claims.release(pod)
        self.pending.push_first(queued)
        self.pending.wake()

    def _nominate(self, queued: QueuedPod, node: str) -> None:
        pod = queued.pod
        if node == pod.nominated_node_name:
            return
        queued.info = PodInfo(pod.nominated_to(node))
        self._core.nominator.add(queued.info)
