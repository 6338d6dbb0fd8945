"""Two schedulers and one lease: the leader is killed under load, and the other one takes over.

Played on the embedded cluster by `tests/live`, and on a real control plane here.
"""

import contextlib
import threading
from dataclasses import dataclass, field
from datetime import datetime

from tests.support.control_plane.processes import LEASE, podium
from tests.support.control_plane.stage import Stage

PODS = 200
NODES = [f"n{number}" for number in range(5)]
BOUND_BEFORE_THE_KILL = 50
ATTEMPT = "Attempting to schedule pod"


@dataclass
class Bindings:
    """What a watch tells about the nodes of pods, while it happens."""

    nodes_by_pod: dict = field(default_factory=dict)
    is_under_way: threading.Event = field(default_factory=threading.Event)

    def see(self, pod):
        """Whether all pods are bound."""
        if node := pod["spec"].get("nodeName"):
            self.nodes_by_pod.setdefault(pod["metadata"]["name"], []).append(node)
        if len(self.nodes_by_pod) >= BOUND_BEFORE_THE_KILL:
            self.is_under_way.set()
        return len(self.nodes_by_pod) == PODS


@dataclass(frozen=True)
class Takeover:
    """What happened."""

    nodes_by_pod: dict  # every node that a pod was ever seen on
    bound_before: int
    standby_before: str  # what the standby had said by the time of the kill
    standby_after: str
    last_renewal: datetime  # by the leader
    acquired: datetime  # by the other one
    transitions: int

    @property
    def seconds(self):
        return (self.acquired - self.last_renewal).total_seconds()


class Load:
    """Pods that a story creates, one after another."""

    def prepare(self, stage):
        """Create what the pods need."""

    def create_pod(self, stage, name):
        stage.pod(name)

    def check(self, stage):
        """Check what became of it."""


def play(side, kubeconfig, folder, starts=(podium, podium), load=Load()):  # noqa: B008
    """``starts`` begin the leader and the standby; both are called as `podium`."""
    start_leader, start_standby = starts
    stage = Stage(side, "takeover")
    stage.ready_nodes(*NODES, cpu="64")
    load.prepare(stage)
    bindings = Bindings()
    leader = start_leader(folder, kubeconfig)
    with leader, standing_by(start_standby(folder, kubeconfig, "-v=3", name="standby")) as standby:
        watch = in_thread(side.wait_for, stage.core("pods"), bindings.see)
        creating = in_thread(create_pods, stage, load)
        assert bindings.is_under_way.wait(60)
        standby_before = standby.said
        leader.kill()
        bound_before = len(bindings.nodes_by_pod)
        last = stage.get(LEASE)["spec"]
        creating.join()
        watch.join()
        now = stage.get(LEASE)["spec"]
        said = standby.said
    load.check(stage)
    stage.clear()
    return Takeover(
        nodes_by_pod={name: set(nodes) for name, nodes in bindings.nodes_by_pod.items()},
        bound_before=bound_before,
        standby_before=standby_before,
        standby_after=said[len(standby_before) :],
        last_renewal=datetime.fromisoformat(last["renewTime"]),
        acquired=datetime.fromisoformat(now["acquireTime"]),
        transitions=now["leaseTransitions"] - last["leaseTransitions"],
    )


def create_pods(stage, load):
    for number in range(PODS):
        load.create_pod(stage, f"pod-{number}")


@contextlib.contextmanager
def standing_by(scheduler):
    try:
        scheduler.until_said("Standing by")
        yield scheduler
    finally:
        scheduler.stop()


def in_thread(work, *arguments):
    thread = threading.Thread(target=work, args=arguments)
    thread.start()
    return thread


def check(takeover, lease_seconds, most_seconds):
    """One scheduled at a time; no pod was bound twice or forgotten; and it did not take long."""
    assert takeover.bound_before < PODS, "the leader was killed under load"
    assert ATTEMPT not in takeover.standby_before
    assert takeover.standby_after.count("Successfully acquired lease") == 1
    assert ATTEMPT in takeover.standby_after
    assert len(takeover.nodes_by_pod) == PODS
    assert {len(nodes) for nodes in takeover.nodes_by_pod.values()} == {1}
    assert takeover.transitions == 1
    # Renewals within a second look alike, so the lease may be taken that much sooner.
    assert lease_seconds - 1 <= takeover.seconds <= most_seconds
