"""Pods that the queue holds back, and pods with several causes."""

from __future__ import annotations

from random import Random

from podium.testing import node, pod
from tests.support.pending_pods.families import family
from tests.support.pending_pods.parts import HOSTNAME, ZONE, filling, some_nodes, spread


@family("SchedulingGated")
def _gated(random: Random):
    gates = [{"name": f"example.com/{name}"} for name in "ab"[: random.randint(1, 2)]]
    taints = random.choice(("", "x:NoSchedule"))
    return some_nodes(random, taints=taints), pod("web", cpu="100m", scheduling_gates=gates)


@family("NoSuchScheduler")
def _no_such_scheduler(random: Random):
    return some_nodes(random), pod("web", cpu="100m", scheduler_name="default-schedular")


@family("NoNodes")
def _no_nodes(random: Random):
    return [], pod("web", cpu=random.choice(("1", "200m")))


@family("UntoleratedTaint", "InsufficientResource")
def _taints_and_no_room(random: Random):
    nodes = some_nodes(random, taints="x=1:NoSchedule", cpu="2")
    return [*nodes, *filling(random, nodes)], pod("web", cpu="1")


@family("NodeAffinityMismatch", "InsufficientResource", "HostPortConflict", "UntoleratedTaint")
def _many_causes(random: Random):
    nodes = some_nodes(random, taints=random.choice(("", "x=1:NoSchedule")), cpu="2")
    users = [pod(f"u-{each.name}", node=each.name, cpu="1500m", host_ports=(80,)) for each in nodes]
    return [*nodes, *users], pod("web", cpu="1", host_ports=(80,), node_selector="disk=ssd")


@family("TopologySpreadSkew", "NodeAffinityMismatch", "UntoleratedTaint", "InsufficientResource")
def _different_causes_on_different_nodes(random: Random):
    nodes = [
        node("a1", labels=f"{HOSTNAME}=a1 {ZONE}=a", taints="x=1:NoSchedule"),
        node("b1", cpu="1", labels=f"{HOSTNAME}=b1 {ZONE}=b"),
        node("c1", labels=f"{HOSTNAME}=c1 {ZONE}=c"),
    ]
    web = [pod(f"web-{n}", node="c1", cpu="100m", labels="app=web") for n in range(2)]
    subject = pod("web", cpu="2", labels="app=web", topology_spread_constraints=[spread(1, ZONE)])
    return [*nodes, *web], subject
