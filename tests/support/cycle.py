"""A scheduler of toy plugins: a cluster, one profile, and a cycle per pod."""

from collections.abc import Iterable, Mapping
from typing import Any

from podium.api.objects import Pod
from podium.clock import FakeClock
from podium.cycle.cycle import Cycle
from podium.cycle.outcome import Outcome
from podium.cycle.pod_classes import PodClasses
from podium.cycle.services import Services
from podium.framework.plugin import Plugin
from podium.framework.queued_pod import QueuedPod
from podium.state.cluster import ClusterState, load
from podium.testing.builders import node
from podium.testing.handle import FakeClient, FakeEvents
from tests.support import toys


class Scheduler:
    """``Scheduler(Filter("F"), nodes="abc").attempt(pod("web"))``.

    ``nodes`` are names or node objects, ``parts`` other parts of its services. ``spawned``,
    ``activated`` and ``events`` keep what the cycle handed to its shell.
    """

    def __init__(
        self,
        *plugins: Plugin,
        nodes: Iterable[Any] = "abc",
        weights: Mapping[str, int] | None = None,
        percentage: int | None = None,
        reuse: bool = True,
        **parts: Any,
    ) -> None:
        self.cluster = ClusterState()
        load(self.cluster, (node(n) if isinstance(n, str) else n for n in nodes))
        self.profile = toys.profile(*plugins, weights=weights)
        self.percentage = percentage
        self.spawned: list[Any] = []
        self.activated: list[Pod] = []
        self.clock = FakeClock()
        self.events = FakeEvents()
        self.services = Services(
            cluster=self.cluster,
            pod_classes=PodClasses(self.cluster, enabled=reuse),
            clock=self.clock,
            client=FakeClient(),
            events={self.profile.name: self.events},
            spawn=lambda name, work: self.spawned.append(work),
            activate=self.activated.extend,
            **parts,
        )

    def cycle(self, pod: Pod, attempt: int = 1) -> Cycle:
        queued = QueuedPod.of(pod)
        queued.attempts = attempt
        return Cycle(self.services, self.profile, queued, self.percentage)

    def attempt(self, pod: Pod, attempt: int = 1) -> Outcome:
        outcome = self.cycle(pod, attempt).run()
        self.cluster.check_invariants()
        self.services.pod_classes.check_invariants()
        return outcome

    def node_of(self, pod: Pod, attempt: int = 1) -> str:
        """Where the pod goes; the place is given back at once."""
        outcome = self.attempt(pod, attempt)
        self.cluster.forget(pod.uid)
        return outcome.record.node
