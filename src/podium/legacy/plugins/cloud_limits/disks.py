"""Cloud disks: those that a pod uses, directly or through claims, and a node's limit."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from podium import framework as fwk
from podium.api import resources
from podium.api.claims import claim_key, is_owned, named_claim
from podium.api.disks import storage_volumes
from podium.api.objects import (
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    StorageClass,
    VolumeSources,
)

LIMIT_FOR_ALL = "KUBE_MAX_PD_VOLS"
INSTANCE_TYPES = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
NITRO = re.compile("^[cmr]5.*|t3|z1d")  # as upstream, only the first alternative is anchored


class CloudDisk(NamedTuple):
    """One cloud's kind of disk.

    ``plugin`` is its in-tree volume plugin, and ``resource`` the name under which a node states its
    own limit. ``source`` and ``name`` find a disk in a volume and its name.
    """

    plugin: str
    resource: str
    source: Callable[[VolumeSources], Any]
    name: Callable[[Any], str]
    usual_limit: Callable[[Node], int]

    def disk(self, sources: VolumeSources) -> str | None:
        source = self.source(sources)
        return None if source is None else self.name(source)


def disks_of(cluster: fwk.ClusterView, pod: Pod, kind: CloudDisk) -> Iterator[str]:
    """Yield the pod's disks of this kind; volumes whose claim is unusable are left out."""
    for volume in storage_volumes(pod):
        named = named_claim(pod, volume)
        if named is None:
            disk = kind.disk(volume)
        else:
            key = claim_key(pod.namespace, named.name)
            claim = cluster.objects(PersistentVolumeClaim).get(key)
            if claim is None or (named.is_ephemeral and not is_owned(claim, pod)):
                continue
            disk = disk_of_claim(cluster, claim, kind)
        if disk is not None:
            yield disk


def disk_of_claim(
    cluster: fwk.ClusterView, claim: PersistentVolumeClaim, kind: CloudDisk
) -> str | None:
    """Return the disk behind the claim, or the claim's name if its class will provision one."""
    volume = cluster.objects(PersistentVolume).get(claim.spec.volume_name)
    if volume is not None:
        return kind.disk(volume.spec)
    # Upstream does not look at the annotation that may name the class instead.
    storage_class = cluster.objects(StorageClass).get(claim.spec.storage_class_name or "")
    is_of_kind = storage_class is not None and storage_class.provisioner == kind.plugin
    return f"claim-{claim.key}" if is_of_kind else None


def limit(node: Node, kind: CloudDisk) -> int:
    """Return the node's own limit, else the one in the environment, else the usual one."""
    own = resources.allocatable(node).get(kind.resource)
    if own is not None:
        return own
    for_all = os.environ.get(LIMIT_FOR_ALL, "")
    # Read on each call, as upstream.
    is_given = re.fullmatch(r"\+?[0-9]+", for_all, re.ASCII) and int(for_all) > 0
    return int(for_all) if is_given else kind.usual_limit(node)


def is_nitro(node: Node) -> bool:
    """Whether the instance type is one of those that take fewer EBS volumes."""
    instance_type = next((node.labels[key] for key in INSTANCE_TYPES if key in node.labels), "")
    return NITRO.search(instance_type) is not None
