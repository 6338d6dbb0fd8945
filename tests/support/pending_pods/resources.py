"""Pods for which no node has enough, also with preemption."""

from __future__ import annotations

from random import Random

from podium.testing import node, pod
from tests.support.pending_pods.families import family
from tests.support.pending_pods.parts import HOSTNAME, ZONE, filling, priority_class, some_nodes


@family("InsufficientResource")
def _cpu(random: Random):
    nodes = some_nodes(random)
    return [*nodes, *filling(random, nodes)], pod("web", cpu=random.choice(("600m", "1", "3")))


@family("InsufficientResource")
def _memory_of_several_containers(random: Random):
    nodes = some_nodes(random, memory="4Gi")
    sizes = [random.choice(("2Gi", "3Gi", "700Mi")) for _ in range(random.randint(2, 3))]
    containers = [
        {"name": f"c{n}", "image": "i", "resources": {"requests": {"memory": size, "cpu": "100m"}}}
        for n, size in enumerate([*sizes, "3Gi"])
    ]
    init = {"name": "init", "image": "i", "resources": {"requests": {"memory": "5Gi"}}}
    side = {"name": "side", "image": "i", "restartPolicy": "Always",
            "resources": {"requests": {"memory": "100Mi"}}}  # fmt: skip
    inits = [init, side][: random.randint(0, 2)]
    return nodes, pod("web", containers=containers, init_containers=inits)


@family("InsufficientResource")
def _two_resources(random: Random):
    nodes = some_nodes(random, cpu="2", memory=lambda n: f"{n + 1}Gi")
    return nodes, pod("web", cpu="3", memory="9Gi")


@family("InsufficientResource")
def _extended_resource_that_no_node_has(random: Random):
    nodes = some_nodes(random, allocatable={"nvidia.com/gpu": "2"})
    return nodes, pod("web", cpu="100m", requests={"nvidia.com/gpus": "1"})


@family("InsufficientResource")
def _too_many_gpus(random: Random):
    nodes = some_nodes(random, allocatable={"nvidia.com/gpu": "2"})
    return nodes, pod("web", cpu="100m", requests={"nvidia.com/gpu": str(random.randint(3, 6))})


@family("TooManyPods")
def _too_many_pods(random: Random):
    nodes = some_nodes(random, pods=2)
    pods = [pod(f"p-{each.name}-{n}", node=each.name) for each in nodes for n in range(2)]
    return [*nodes, *pods], pod("web", cpu="100m")


@family("InsufficientResource", "UntoleratedTaint")
def _control_plane_and_full_workers(random: Random):
    workers = some_nodes(random, cpu="2")
    control = node("control", cpu="8", labels=f"{HOSTNAME}=control {ZONE}=a",
                   taints="node-role.kubernetes.io/control-plane:NoSchedule")  # fmt: skip
    return [control, *workers, *filling(random, workers)], pod("web", cpu="1")


@family("InsufficientResource")
def _higher_priorities_everywhere(random: Random):
    nodes = some_nodes(random)
    classes = [priority_class(f"class-{value}", value) for value in (10, 100, 1000)]
    busy = [
        pod(f"busy-{each.name}", node=each.name, cpu=f"{int(each.status.allocatable['cpu'])}",
            priority_class_name=f"class-{random.choice((10, 100, 1000))}")
        for each in nodes
    ]  # fmt: skip
    return [*classes, *nodes, *busy], pod("web", cpu="1")


@family("InsufficientResource")
def _never_preempts(random: Random):
    nodes = some_nodes(random)
    shy = priority_class("shy", 1000, preemptionPolicy="Never")
    subject = pod("web", cpu="1500m", priority_class_name="shy")
    return [shy, *nodes, *filling(random, nodes)], subject


@family("InsufficientResource")
def _never_preempts_pods_of_low_priority(random: Random):
    nodes = some_nodes(random)
    classes = [priority_class("low", 10), priority_class("high", 1000)]
    shy = priority_class("shy", 100, preemptionPolicy="Never")
    names = ["low", *random.choices(("low", "high"), k=len(nodes))]
    busy = [
        pod(f"busy-{each.name}", node=each.name, cpu=each.status.allocatable["cpu"],
            priority_class_name=name)
        for each, name in zip(nodes, names, strict=False)
    ]  # fmt: skip
    return [*classes, shy, *nodes, *busy], pod("web", cpu="1", priority_class_name="shy")
