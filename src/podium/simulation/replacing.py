"""Which pods controllers replace when they are evicted, and by what."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from podium.api.objects import Pod, PodStatus

MIRROR: Final = "kubernetes.io/config.mirror"
DAEMON_SET: Final = "DaemonSet"
_REPLACING: Final = ("Job", "ReplicaSet", "ReplicationController", "StatefulSet")


def stays_with_node(pod: Pod) -> bool:
    """Whether the pod belongs to its node: of a DaemonSet, or run by the kubelet alone."""
    owner = pod.controller
    of_daemon_set = owner is not None and owner.kind == DAEMON_SET
    return of_daemon_set or MIRROR in pod.annotations


def is_replaced(pod: Pod) -> bool:
    """Whether a controller creates another pod when this one is evicted."""
    owner = pod.controller
    if owner is None or stays_with_node(pod):
        return False
    # Operators manage pods with kinds of their own: most of them replace a pod that is gone.
    return owner.kind in _REPLACING or "." in owner.api_version


def replacement(pod: Pod) -> Pod:
    """Return the pod that a controller creates instead; it keeps its name, for readers."""
    metadata = replace(
        pod.metadata,
        uid=f"{pod.uid}*",  # another pod, and the same one in every run
        resource_version="",
        deletion_timestamp="",
        deletion_grace_period_seconds=None,
    )
    spec = replace(pod.spec, node_name="")
    return replace(pod, metadata=metadata, spec=spec, status=PodStatus(phase="Pending"))
