"""What `podium demo` creates: workloads that land, and some that cannot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

Json = dict[str, Any]

_APART: Final = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {
                "topologyKey": "kubernetes.io/hostname",
                "labelSelector": {"matchLabels": {"app": "cache"}},
            }
        ]
    }
}
# name: replicas, cpu of each, and what else its pods want
WORKLOADS: Final[dict[str, tuple[int, str, Json]]] = {
    "web": (700, "500m", {}),
    "cache": (150, "1", {"affinity": _APART}),  # one per node: fifty too many
    "training": (100, "250m", {"nodeSelector": {"gpu": "a100"}}),  # there is no such node
    "giant": (50, "32", {}),  # larger than every node
}
PODS: Final = sum(replicas for replicas, _, _ in WORKLOADS.values())


def manifests() -> Iterator[Json]:
    """A Deployment each."""
    for name, (replicas, cpu, wishes) in WORKLOADS.items():
        container = {"name": "c", "image": f"{name}:1", "resources": {"requests": {"cpu": cpu}}}
        labels = {"app": name}
        yield {
            "metadata": {"name": name, "namespace": "default"},
            "spec": {
                "replicas": replicas,
                "selector": {"matchLabels": labels},
                "template": {
                    "metadata": {"labels": labels},
                    "spec": {"containers": [container], **wishes},
                },
            },
        }
