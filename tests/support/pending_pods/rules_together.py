"""Families of pending pods with several rules at once, and with rules that people get wrong."""

from __future__ import annotations

from random import Random
from typing import Any

from podium.testing import namespace, node, pod
from tests.support.pending_pods.families import family
from tests.support.pending_pods.parts import (
    HOSTNAME,
    ZONE,
    affinity,
    filling,
    priority_class,
    required,
    some_nodes,
    spread,
    term,
)

CONTROL_PLANE = "node-role.kubernetes.io/control-plane:NoSchedule"


def container(name: str, **requests: str) -> dict[str, Any]:
    return {"name": name, "image": "i", "resources": {"requests": requests}}


# --- nodes ----------------------------------------------------------------------------------------


@family("NodeAffinityMismatch", "UntoleratedTaint", "InsufficientResource")
def _selected_nodes_are_tainted_or_full(random: Random):
    plain = some_nodes(random, more="disk=hdd")
    taken = [
        node(f"ssd{n}", cpu="2", labels=f"{HOSTNAME}=ssd{n} {ZONE}=a disk=ssd",
             taints=random.choice(("", "gpu=a:NoSchedule", "gpu=a:NoSchedule spot:NoExecute")))
        for n in range(3)
    ]  # fmt: skip
    return [*plain, *taken, *filling(random, taken)], pod("web", cpu="1", node_selector="disk=ssd")


@family("NodeAffinityMismatch")
def _affinity_with_alternatives(random: Random):
    nodes = some_nodes(random, more=lambda n: f"disk=ssd gen={n}")
    terms = [
        {"matchExpressions": [{"key": "gpu", "operator": "Exists"}]},
        {
            "matchExpressions": [
                {"key": "disk", "operator": "In", "values": ["ssd"]},
                {"key": "gen", "operator": "Gt", "values": [str(random.randint(5, 9))]},
            ]
        },
    ]
    random.shuffle(terms)
    selector = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    return nodes, pod("web", cpu="100m", affinity={"nodeAffinity": selector})


@family("InsufficientResource", "NodeAffinityMismatch", "UntoleratedTaint", "NodeUnschedulable")
def _named_node_is_not_free(random: Random):
    taints = random.choice(("", "x:NoSchedule"))
    nodes = some_nodes(random, taints=taints, unschedulable=random.random() < 0.5)
    fields = [{"key": "metadata.name", "operator": "In", "values": ["n0"]}]
    terms = {"nodeSelectorTerms": [{"matchFields": fields}]}
    wanted = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    return [*nodes, *filling(random, nodes[:1])], pod("web", cpu="1", affinity=wanted)


@family("NodeUnschedulable", "UntoleratedTaint", "InsufficientResource")
def _cordoned_and_full(random: Random):
    nodes = some_nodes(random, unschedulable=lambda n: n % 2 == 0, cpu="2")
    full = [each for each in nodes if not each.spec.unschedulable]
    return [*nodes, *filling(random, full)], pod("web", cpu="1")


@family("UntoleratedTaint")
def _taints_with_two_effects(random: Random):
    nodes = some_nodes(random, taints="a=1:NoSchedule a=1:NoExecute")
    return nodes, pod("web", cpu="100m", tolerates=random.choice(("", "a=2:NoSchedule")))


@family("InsufficientResource")
def _near_miss_in_a_large_cluster(random: Random):
    labels = f"{ZONE}=a pool=other"
    many = [
        node(f"t{n}", labels=f"{HOSTNAME}=t{n} {labels}", taints="x:NoSchedule") for n in range(60)
    ]
    near = node("near", cpu="2", labels=f"{HOSTNAME}=near {ZONE}=b")
    busy = pod("busy", node="near", cpu=f"{random.randint(1100, 1500)}m")
    return [*many, near, busy], pod("web", cpu="1", node_selector=f"{ZONE}=b")


@family("NoNodes")
def _rules_without_nodes(random: Random):
    rules = random.choice(
        (
            {"node_selector": "disk=ssd"},
            {"affinity": required({"key": "disk", "operator": "In", "values": ["ssd"]})},
            {"labels": "app=web", "topology_spread_constraints": [spread(1, ZONE)]},
            {"host_ports": (80,)},
        )
    )
    return [], pod("web", cpu="2", memory="3Gi", **rules)


# --- resources ------------------------------------------------------------------------------------


@family("InsufficientResource")
def _overhead_and_init_containers(random: Random):
    nodes = some_nodes(random, cpu="2", memory="2Gi")
    inits = [
        container("fetch", cpu="3"),
        {**container("proxy", cpu="500m"), "restartPolicy": "Always"},
    ]
    mains = [
        container("app", cpu=random.choice(("1", "2")), memory="1Gi"),
        container("log", cpu="700m"),
    ]
    return nodes, pod(
        "web", containers=mains, init_containers=inits[: random.randint(0, 2)] or inits
    )


@family("InsufficientResource")
def _storage_and_huge_pages(random: Random):
    offered = {"ephemeral-storage": "10Gi", "hugepages-2Mi": "64Mi"}
    nodes = some_nodes(random, allocatable=offered, memory="8Gi")
    asked = random.choice(({"ephemeral-storage": "12Gi"}, {"hugepages-2Mi": "128Mi"}))
    limits = {"limits": {**asked, "memory": "1Gi"}, "requests": {**asked, "memory": "1Gi"}}
    return nodes, pod("web", containers=[{"name": "c", "image": "i", "resources": limits}])


@family("InsufficientResource", "TooManyPods")
def _no_cpu_and_no_more_pods(random: Random):
    nodes = some_nodes(random, cpu="2", pods=2)
    pods = [
        pod(f"p-{each.name}-{n}", node=each.name, cpu=f"{random.randint(700, 1000)}m")
        for each in nodes
        for n in range(2)
    ]
    return [*nodes, *pods], pod("web", cpu="1")


@family("InsufficientResource", "HostPortConflict")
def _host_network(random: Random):
    nodes = some_nodes(random)
    users = [
        pod(f"u-{each.name}", node=each.name, cpu="100m", host_ports=(9100,)) for each in nodes
    ]
    ports = [{"containerPort": 9100, "hostPort": 9100}]
    mains = [{**container("agent", cpu="100m"), "ports": ports}]
    return [*nodes, *users], pod("web", host_network=True, containers=mains)


@family("HostPortConflict")
def _host_ports_on_different_nodes(random: Random):
    nodes = some_nodes(random)
    users = [
        pod(f"u-{each.name}", node=each.name, host_ports=random.choice(((80,), (443,), (80, 443))))
        for each in nodes
    ]
    return [*nodes, *users], pod("web", cpu="100m", host_ports=(80, 443, 8080))


# --- priorities -----------------------------------------------------------------------------------


@family("InsufficientResource")
def _victims_with_budgets(random: Random):
    nodes = some_nodes(random, cpu="2")
    classes = [priority_class("low", 10), priority_class("mid", 100)]
    busy = [
        pod(f"busy-{each.name}-{n}", node=each.name, cpu="1", labels=f"app={random.choice('ab')}",
            priority_class_name=random.choice(("low", "mid")))
        for each in nodes
        for n in range(2)
    ]  # fmt: skip
    budget = {
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": {"name": "budget", "namespace": "default"},
        "spec": {"minAvailable": len(busy), "selector": {"matchLabels": {"app": "a"}}},
    }  # fmt: skip
    return [*classes, *nodes, *busy, budget], pod("web", cpu="1500m")


@family("InsufficientResource", "HostPortConflict", "TopologySpreadSkew", "PodAntiAffinity")
def _some_pods_can_be_evicted(random: Random):
    """Pods of lower and of higher priority are in the way: preemption does a part of the work."""
    nodes = some_nodes(random, cpu="2")
    classes = [priority_class("low", 10), priority_class("mid", 100), priority_class("high", 1000)]
    busy = [
        pod(f"{name}-{each.name}", node=each.name, cpu="900m", labels="app=web",
            host_ports=(port,), priority_class_name=name)
        for each in nodes
        for name, port in (("low", 80), ("high", 443))
    ]  # fmt: skip
    rules = random.choice(
        (
            {"host_ports": (80, 443)},
            {"topology_spread_constraints": [spread(1, HOSTNAME, minDomains=9)]},
            {"affinity": affinity("podAntiAffinity", term("app", "web", HOSTNAME))},
            {"cpu": "1500m"},
        )
    )
    fields = {"cpu": "1", "labels": "app=web", "priority_class_name": "mid", **rules}
    return [*classes, *nodes, *busy], pod("web", **fields)


@family("InsufficientResource", "UntoleratedTaint")
def _never_preempts_and_tainted(random: Random):
    nodes = some_nodes(random, taints="x=1:NoSchedule")
    shy = priority_class("shy", 1000, preemptionPolicy="Never")
    subject = pod("web", cpu="1500m", priority_class_name="shy")
    return [shy, *nodes, *filling(random, nodes)], subject


# --- other pods -----------------------------------------------------------------------------------


@family("TopologySpreadSkew")
def _too_few_domains(random: Random):
    nodes = [node(f"n{n}", labels=f"{HOSTNAME}=n{n} {ZONE}={'ab'[n % 2]}") for n in range(4)]
    web = [pod(f"web-{n}", node=f"n{n}", labels="app=web") for n in range(random.randint(2, 4))]
    constraint = spread(1, ZONE, minDomains=random.randint(3, 5))
    subject = pod("web", cpu="100m", labels="app=web", topology_spread_constraints=[constraint])
    return [*nodes, *web], subject


@family("TopologySpreadSkew", "UntoleratedTaint")
def _two_skews(random: Random):
    zones = {"a1": "a", "a2": "a", "b1": "b"}
    nodes = [node(name, labels=f"{HOSTNAME}={name} {ZONE}={zone}") for name, zone in zones.items()]
    off = node("b2", labels=f"{HOSTNAME}=b2 {ZONE}=b", taints="x:NoSchedule")
    counts = {"a1": 1, "a2": random.randint(1, 3), "b1": random.randint(3, 5)}
    web = [
        pod(f"web-{name}-{n}", node=name, labels="app=web")
        for name, count in counts.items()
        for n in range(count)
    ]
    constraints = [spread(1, HOSTNAME), spread(random.randint(1, 2), ZONE)]
    fields = {"labels": "app=web", "topology_spread_constraints": constraints}
    apart = affinity("podAntiAffinity", term("no", "a", ZONE))
    keep_off = [pod("guard", node="a1", labels="no=a")]
    return [*nodes, off, *web, *keep_off], pod("web", cpu="100m", affinity=apart, **fields)


@family("PodAffinityMismatch", "UntoleratedTaint", "InsufficientResource")
def _partner_on_a_full_or_tainted_node(random: Random):
    nodes = some_nodes(random)
    home = node("home", cpu="2", labels=f"{HOSTNAME}=home {ZONE}=z",
                taints=random.choice(("", "x=1:NoSchedule")))  # fmt: skip
    partner = pod("db", node="home", cpu="1500m", labels="app=db")
    near = affinity("podAffinity", term("app", "db", HOSTNAME))
    return [*nodes, home, partner], pod("web", cpu="1", affinity=near)


@family("PodAffinityMismatch")
def _partner_in_another_namespace(random: Random):
    nodes = some_nodes(random)
    other = namespace("data", labels="team=data")
    partner = pod("db", namespace="data", node="n0", labels="app=db")
    near = affinity("podAffinity", term("app", "db", ZONE))
    return [*nodes, other, partner], pod("web", cpu="100m", affinity=near)


@family("PodAntiAffinity", "ExistingAntiAffinity")
def _both_kinds_of_anti_affinity(random: Random):
    nodes = some_nodes(random)
    apart = affinity("podAntiAffinity", term("app", "web", HOSTNAME))
    others = [
        pod(f"o-{each.name}", node=each.name, labels=random.choice(("app=db", "app=web")),
            affinity=apart)
        for each in nodes
    ]  # fmt: skip
    mine = affinity("podAntiAffinity", term("app", "db", HOSTNAME), term("app", "web", HOSTNAME))
    return [*nodes, *others], pod("web", cpu="100m", labels="app=web", affinity=mine)


# --- gates ----------------------------------------------------------------------------------------


@family("SchedulingGated")
def _gated_and_no_room(random: Random):
    nodes = some_nodes(random, taints=random.choice(("", "x:NoSchedule")))
    gates = [{"name": "example.com/quota"}]
    return [*nodes, *filling(random, nodes)], pod("web", cpu="1", scheduling_gates=gates)


@family("NoSuchScheduler")
def _no_such_scheduler_and_no_room(random: Random):
    nodes = some_nodes(random, taints="x:NoSchedule")
    return nodes, pod("web", cpu="100m", scheduler_name="volcano")
