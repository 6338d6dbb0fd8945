"""The cluster of `podium demo`: three zones of small nodes, ten services, and a picky database."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from podium.api.nodes import ZONE
from podium.apiserver.embedded_cluster import ClusterOptions, NodeGroup
from podium.apiserver.statuses import Json

ZONES: Final = ("a", "b", "c")
WORKERS: Final = 24  # nodes in each zone, besides the one with a fast disk
CORDONED_ZONE: Final = "b"  # its fast node is out of service from the start
NAMESPACE: Final = "default"
DATABASE: Final = "db-0"

# Replicas and the cpu request of each. Any two zones have room for all of them, whatever goes
# where: together they leave free more than three quarters of a cpu on each node.
SERVICES: Final = {
    "web": (120, "250m"),
    "api": (80, "500m"),
    "auth": (60, "500m"),
    "cart": (60, "500m"),
    "pay": (40, "1"),
    "feed": (40, "1"),
    "mail": (60, "250m"),
    "ads": (30, "1"),
    "chat": (80, "500m"),
    "logs": (120, "250m"),
}
# Two of these do not fit on one node.
STATEFUL: Final = {"search": "6", "db": "4"}
PODS: Final = sum(replicas for replicas, _ in SERVICES.values()) + len(STATEFUL)
NODES: Final = len(ZONES) * (WORKERS + 1)

_FAST: Final = {"disk": "nvme"}


def options() -> ClusterOptions:
    groups = [group for zone in ZONES for group in _groups(zone)]
    return ClusterOptions(0, more_nodes=tuple(groups))


def _groups(zone: str) -> Iterator[NodeGroup]:
    labels = {ZONE: f"zone-{zone}"}
    yield NodeGroup(WORKERS, {"metadata": {"name": zone, "labels": labels}})
    taint = {"key": "disk", "value": "nvme", "effect": "NoSchedule"}
    fast = {
        "metadata": {"name": f"{zone}-nvme", "labels": {**labels, **_FAST}},
        "spec": {"taints": [taint], "unschedulable": zone == CORDONED_ZONE},
    }
    yield NodeGroup(1, fast)


def workload_manifests() -> Iterator[tuple[str, Json]]:
    """Yield the resource and the manifest of each workload, in the order of their creation."""
    for name, (replicas, cpu) in SERVICES.items():
        yield "deployments.apps", _workload(name, replicas, cpu, {}, {})
    for name, cpu in STATEFUL.items():
        spec = {"nodeSelector": _FAST, "tolerations": [{"key": "disk", "operator": "Exists"}]}
        yield "statefulsets.apps", _workload(name, 1, cpu, {"serviceName": name}, spec)


def _workload(name: str, replicas: int, cpu: str, fields: Json, pod: Json) -> Json:
    container = {"name": "c", "image": f"{name}:1", "resources": {"requests": {"cpu": cpu}}}
    labels = {"app": name}
    return {
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [container], **pod},
            },
            **fields,
        },
    }
