"""EBSLimits, GCEPDLimits, AzureDiskLimits, CinderLimits: a node holds so many disks of a cloud.

Only configurations for kube-scheduler v1.31 and older name them; NodeVolumeLimits replaces them.

PreFilter  leaves the plugin out for a pod without disks of its kind.
Filter     rejects a node that would hold too many, unless a CSI driver serves them there.
Requeue    when a node joins or a pod goes.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import ClassVar

from podium import framework as fwk
from podium.api.claims import named_claims
from podium.api.objects import (
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    StorageClass,
)
from podium.legacy.plugins.cloud_limits.disks import CloudDisk, disks_of, is_nitro, limit
from podium.plugins.volume.binding.migration import is_migrated
from podium.plugins.volume.limits import EXCEEDED, usable_claim

DEPENDENCIES = fwk.Dependencies(
    node=fwk.Aspect.VOLUMES | fwk.Aspect.RESOURCES | fwk.Aspect.LABELS,
    cluster=fwk.Aspect.STORAGE,
)


class CloudLimits(fwk.PreFilterPlugin, fwk.FilterPlugin, fwk.EnqueueExtensions):
    """Everything but the kind of disk, which the four plugins below set."""

    disk: ClassVar[CloudDisk]
    watches = (PersistentVolumeClaim, PersistentVolume, StorageClass, CSINode)

    def __init__(self, args: fwk.NoArgs, handle: fwk.Handle) -> None:
        self._cluster = handle.cluster

    def sign(self, pod: Pod) -> Hashable:
        return self.incoming(pod)

    def depends_on(self, pod: Pod) -> fwk.Dependencies:
        return DEPENDENCIES

    def pre_filter(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Status | None:
        return None if self.incoming(pod) else fwk.skip()

    def filter(self, state: fwk.CycleState, pod: Pod, node: fwk.NodeInfo) -> fwk.Status:
        return self.verdict(self.incoming(pod), node)

    def filter_all(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Statuses:
        incoming = self.incoming(pod)
        return fwk.Column.of(self.verdict(incoming, node) for node in nodes)

    def events_to_register(self) -> list[fwk.Registration]:
        return [fwk.on("Node", "add"), fwk.on("Pod", "delete")]

    def incoming(self, pod: Pod) -> frozenset[str] | fwk.Status:
        """Return the pod's disks, or an error status if one of its claims is unusable."""
        for named in named_claims(pod):
            claim = usable_claim(self._cluster, pod, named)
            if isinstance(claim, fwk.Status):
                return fwk.Status.error(claim.message)
        return frozenset(disks_of(self._cluster, pod, self.disk))

    def verdict(self, incoming: frozenset[str] | fwk.Status, node: fwk.NodeInfo) -> fwk.Status:
        if isinstance(incoming, fwk.Status):
            return incoming
        csi_node = self._cluster.objects(CSINode).get(node.name)
        if not incoming or is_migrated(self.disk.plugin, csi_node):
            return fwk.SUCCESS
        disks = incoming.union(*(disks_of(self._cluster, i.pod, self.disk) for i in node.pods))
        return EXCEEDED if len(disks) > limit(node.node, self.disk) else fwk.SUCCESS


class EBSLimits(CloudLimits):
    name = "EBSLimits"
    disk = CloudDisk(
        "kubernetes.io/aws-ebs",
        "attachable-volumes-aws-ebs",
        lambda sources: sources.aws_elastic_block_store,
        lambda disk: str(disk.volume_id),
        lambda node: 25 if is_nitro(node) else 39,
    )


class GCEPDLimits(CloudLimits):
    name = "GCEPDLimits"
    disk = CloudDisk(
        "kubernetes.io/gce-pd",
        "attachable-volumes-gce-pd",
        lambda sources: sources.gce_persistent_disk,
        lambda disk: str(disk.pd_name),
        lambda node: 16,
    )


class AzureDiskLimits(CloudLimits):
    name = "AzureDiskLimits"
    disk = CloudDisk(
        "kubernetes.io/azure-disk",
        "attachable-volumes-azure-disk",
        lambda sources: sources.azure_disk,
        lambda disk: str(disk.disk_name),
        lambda node: 16,
    )


class CinderLimits(CloudLimits):
    name = "CinderLimits"
    disk = CloudDisk(
        "kubernetes.io/cinder",
        "attachable-volumes-cinder",
        lambda sources: sources.cinder,
        lambda disk: str(disk.volume_id),
        lambda node: 256,
    )
