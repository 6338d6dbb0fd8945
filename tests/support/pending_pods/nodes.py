"""Pods that nodes refuse: by taints, labels, names, ports or features."""

from __future__ import annotations

from random import Random

from podium.testing import pod
from tests.support.pending_pods.families import family
from tests.support.pending_pods.parts import required, some_nodes


@family("UntoleratedTaint")
def _one_taint(random: Random):
    return some_nodes(random, taints="gpu=a100:NoSchedule"), pod("web", cpu="100m")


@family("UntoleratedTaint")
def _sets_of_taints(random: Random):
    known = ["a=1:NoSchedule", "b:NoExecute", "d=2:NoSchedule"]

    def taints(number: int) -> str:
        chosen = random.sample(known, random.randint(1, 3))
        return " ".join([*chosen, *["c=x:NoSchedule"][: random.randint(0, 1)]])

    nodes = some_nodes(random, taints=taints)
    return nodes, pod("web", cpu="100m", tolerates=random.choice(("", "c=x:NoSchedule")))


@family("NodeUnschedulable", "UntoleratedTaint")
def _cordoned(random: Random):
    return some_nodes(random, unschedulable=True), pod("web", cpu="100m")


@family("NodeAffinityMismatch")
def _selector_typo(random: Random):
    nodes = some_nodes(random, more=lambda n: f"disk={random.choice(('ssd', 'hdd'))}")
    return nodes, pod("web", cpu="100m", node_selector=random.choice(("disk=sdd", "dsk=ssd")))


@family("NodeAffinityMismatch")
def _affinity_terms(random: Random):
    nodes = some_nodes(random, more=lambda n: f"arch={random.choice(('amd64', 'arm64'))} gen={n}")
    expressions = [
        {"key": "arch", "operator": "In", "values": ["riscv"]},
        {"key": "gen", "operator": "Gt", "values": ["7"]},
        {"key": "old", "operator": "Exists"},
        {"key": "arch", "operator": "NotIn", "values": ["amd64", "arm64"]},
    ]
    chosen = random.sample(expressions, random.randint(1, 3))
    return nodes, pod("web", cpu="100m", affinity=required(*chosen))


@family("NodeAffinityMismatch", "NamedNodesMissing")
def _named_node(random: Random):
    fields = [{"key": "metadata.name", "operator": "In", "values": ["n9"]}]
    terms = {"nodeSelectorTerms": [{"matchFields": fields}]}
    node_affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    return some_nodes(random), pod("web", cpu="100m", affinity=node_affinity)


@family("HostPortConflict")
def _host_port(random: Random):
    nodes = some_nodes(random)
    ports = random.choice(((80,), (80, 443)))
    users = [pod(f"u-{each.name}", node=each.name, host_ports=ports[:1]) for each in nodes]
    return [*nodes, *users], pod("web", cpu="100m", host_ports=ports)


@family("HostPortConflict")
def _host_ports_of_different_addresses(random: Random):
    def ports(*addresses: str):
        return [{"containerPort": 80, "hostPort": 80, "hostIP": each} for each in addresses]

    nodes = some_nodes(random)
    taken = random.choice(("10.0.0.1", "10.0.0.2"))
    users = [
        pod(f"u-{each.name}", node=each.name,
            containers=[{"name": "c", "image": "i", "ports": ports(taken)}])
        for each in nodes
    ]  # fmt: skip
    wanted = ports("10.0.0.1", "10.0.0.2", "10.0.0.3")
    return [*nodes, *users], pod("web", containers=[{"name": "c", "image": "i", "ports": wanted}])


@family("FeatureNotDeclared")
def _undeclared_feature(random: Random):
    subject = pod("web", cpu="100m", host_network=True, host_users=False)
    return some_nodes(random), subject
