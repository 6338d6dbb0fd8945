"""Nodes, pods and rules that several families use."""

from __future__ import annotations

from random import Random
from typing import Any

from podium.api.objects import CSINode, Node, Pod
from podium.api.storage import CSINodeDriver, CSINodeSpec, VolumeNodeResources
from podium.testing import node, pod
from podium.testing.builders import metadata

ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"


def some_nodes(random: Random, **fields: Any) -> list[Node]:
    """Return two to five nodes with zones; a callable field is given the number of the node."""
    nodes = []
    for number in range(random.randint(2, 5)):
        given = {key: value(number) if callable(value) else value for key, value in fields.items()}
        given.setdefault("cpu", random.choice(("2", "4", "8")))
        labels = f"{HOSTNAME}=n{number} {ZONE}={'abc'[number % 3]} {given.pop('more', '')}"
        nodes.append(node(f"n{number}", labels=labels, **given))
    return nodes


def filling(random: Random, nodes: list[Node], left: int = 500, **fields: Any) -> list[Pod]:
    """Return pods that leave at most ``left`` milli cpu free on each node."""
    pods = []
    for each in nodes:
        free = int(each.status.allocatable["cpu"]) * 1000 - random.randint(0, left)
        parts = random.randint(1, 3)
        for part in range(parts):
            name, cpu = f"busy-{each.name}-{part}", f"{free // parts}m"
            pods.append(pod(name, node=each.name, cpu=cpu, **fields))
    return pods


def term(key: str, value: str, topology: str) -> dict[str, Any]:
    return {"labelSelector": {"matchLabels": {key: value}}, "topologyKey": topology}


def affinity(kind: str, *terms: dict[str, Any]) -> dict[str, Any]:
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}


def required(*expressions: dict[str, Any]) -> dict[str, Any]:
    terms = {"nodeSelectorTerms": [{"matchExpressions": list(expressions)}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


def spread(skew: int, key: str, app: str = "web", **more: Any) -> dict[str, Any]:
    selector = {"matchLabels": {"app": app}}
    return {
        "maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": selector, **more,
    }  # fmt: skip


def csi_node(name: str, count: int) -> CSINode:
    driver = CSINodeDriver("csi.example.com", "id", (), VolumeNodeResources(count))
    return CSINode(metadata=metadata(name, "", {}), spec=CSINodeSpec(drivers=(driver,)))


def priority_class(name: str, value: int, **more: Any) -> dict[str, Any]:
    version = "scheduling.k8s.io/v1"
    meta = {"name": name}
    return {
        "apiVersion": version,
        "kind": "PriorityClass",
        "metadata": meta,
        "value": value,
        **more,
    }
