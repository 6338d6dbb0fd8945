"""Equal parts of placed pods and of nodes are stored once: most pods are replicas of others.

A pod as the API sends it takes 6 KB, of which 1.5 KB are its own. The state calls this for what it
keeps; the objects stay equal to what they were.
"""

from __future__ import annotations

from collections.abc import Hashable
from sys import intern
from typing import Any, Final

import msgspec
from msgspec.structs import force_setattr

from podium.api.objects import Node, Pod
from podium.api.pods import Container, ContainerStatus

_MOST_KEPT: Final = 20_000
# The key of parts that have no hash, because of the maps in them, whose order is kept, too.
_ENCODE: Final = msgspec.json.Encoder().encode


class SharedParts:
    """The parts seen lately, each under a key that has everything in it."""

    def __init__(self) -> None:
        self._parts: dict[Hashable, Any] = {}

    def share_pod(self, pod: Pod) -> None:
        """Replace parts of the pod by equal ones of earlier pods."""
        if len(self._parts) > _MOST_KEPT:
            self._parts.clear()
        share = self._parts.setdefault
        meta, spec, status = pod.metadata, pod.spec, pod.status
        owners, tolerations = meta.owner_references, spec.tolerations
        if owners:
            force_setattr(meta, "owner_references", share(owners, owners))
        if tolerations:
            force_setattr(spec, "tolerations", share(tolerations, tolerations))
        conditions = tuple([share(one, one) for one in status.conditions])
        force_setattr(status, "conditions", conditions)
        containers = share((Container, _ENCODE(spec.containers)), spec.containers)
        force_setattr(spec, "containers", containers)
        statuses = status.container_statuses
        if statuses:
            key = (ContainerStatus, _ENCODE(statuses))
            force_setattr(status, "container_statuses", share(key, statuses))
        _share_words(pod)

    def share_node(self, node: Node) -> None:
        """Replace the images of the node by equal ones of other nodes."""
        if len(self._parts) > _MOST_KEPT:
            self._parts.clear()
        share, status = self._parts.setdefault, node.status
        force_setattr(status, "images", tuple([share(image, image) for image in status.images]))


def _share_words(pod: Pod) -> None:
    meta, spec, status = pod.metadata, pod.spec, pod.status
    force_setattr(meta, "namespace", intern(meta.namespace))
    force_setattr(spec, "scheduler_name", intern(spec.scheduler_name))
    force_setattr(spec, "service_account_name", intern(spec.service_account_name))
    force_setattr(spec, "preemption_policy", intern(spec.preemption_policy))
    force_setattr(spec, "restart_policy", intern(spec.restart_policy))
    force_setattr(status, "phase", intern(status.phase))
