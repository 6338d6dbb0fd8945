"""VolumeZone: a node must be in the zone and region of the pod's volumes.

PreFilter  collects the zones and regions of the pod's bound volumes from their labels; rejects a
           pod whose claim or volume does not exist.
Filter     rejects a node that has zone or region labels which do not match those of each volume.
Requeue    when a claim of the pod, a volume, a node, or a class with WaitForFirstConsumer changes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import NamedTuple

from podium import framework as fwk
from podium.api.claims import class_name
from podium.api.objects import PersistentVolume, PersistentVolumeClaim, Pod, StorageClass
from podium.errors import NotFound
from podium.plugins.volume.claims import (
    WAIT_FOR_FIRST_CONSUMER,
    get_claim,
    get_class,
    get_volume,
    references,
)
from podium.plugins.volume.topology import Topology, are_inside, is_inside, topologies_of

REJECTED = fwk.Status.unresolvable("node(s) had no available volume zone")
DEPENDENCIES = fwk.Dependencies(node=fwk.Aspect.LABELS)


class Topologies(NamedTuple):
    """PreFilter's state: the topologies that a node must match."""

    of_volumes: tuple[Topology, ...]


NO_TOPOLOGIES = Topologies(())


class VolumeZone(fwk.PreFilterPlugin, fwk.FilterPlugin, fwk.EnqueueExtensions):
    name = "VolumeZone"

    def __init__(self, args: fwk.NoArgs, handle: fwk.Handle) -> None:
        self._cluster = handle.cluster

    def sign(self, pod: Pod) -> Hashable:
        return self.judge(pod)

    def depends_on(self, pod: Pod) -> fwk.Dependencies:
        return DEPENDENCIES

    def pre_filter(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Status | None:
        answer = self.judge(pod)
        if isinstance(answer, fwk.Status):
            return answer
        if not answer.of_volumes:
            return fwk.skip()
        state.put(answer)
        return None

    def filter(self, state: fwk.CycleState, pod: Pod, node: fwk.NodeInfo) -> fwk.Status:
        answer = state.find(Topologies) or self.judge(pod)
        if isinstance(answer, fwk.Status):
            return answer
        return fwk.SUCCESS if is_inside(node.labels, answer.of_volumes) else REJECTED

    def filter_all(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Statuses:
        answer = state.find(Topologies) or self.judge(pod)
        if isinstance(answer, fwk.Status):
            return fwk.Column.uniform(answer, len(nodes))
        return fwk.Column.where(are_inside(nodes, answer.of_volumes), fwk.SUCCESS, REJECTED)

    def events_to_register(self) -> list[fwk.Registration]:
        return [
            fwk.on("storage.k8s.io/StorageClass", "add", hint=class_binds_late),
            fwk.on("Node", "add|label"),
            fwk.on("PersistentVolumeClaim", "add|update", hint=claim_changed),
            fwk.on("PersistentVolume", "add|update", hint=volume_moved),
        ]

    def judge(self, pod: Pod) -> Topologies | fwk.Status:
        """Return the topologies of the pod's volumes, or a rejection if one cannot be found.

        As in kube-scheduler, Filter calls it too if the profile disables PreFilter.
        """
        if not pod.spec.volumes:
            return NO_TOPOLOGIES
        found: dict[Topology, None] = {}
        try:
            for volume in bound_volumes(self._cluster, pod):
                found.update(dict.fromkeys(topologies_of(volume)))
        except NotFound as missing:
            return fwk.Status.unresolvable(str(missing))
        return Topologies(tuple(found))


def bound_volumes(cluster: fwk.ClusterView, pod: Pod) -> Iterator[PersistentVolume]:
    """Yield the volumes of the pod's claims; raise ``NotFound`` if one does not exist."""
    for volume in pod.spec.volumes:
        if volume.persistent_volume_claim is None:
            continue
        name = volume.persistent_volume_claim.claim_name
        if not name:
            raise NotFound("PersistentVolumeClaim had no name")
        claim = get_claim(cluster, pod.namespace, name)
        if claim.spec.volume_name:
            yield get_volume(cluster, claim.spec.volume_name)
        else:
            check_binds_late(cluster, claim)


def check_binds_late(cluster: fwk.ClusterView, claim: PersistentVolumeClaim) -> None:
    """Raise ``NotFound`` unless the claim's class has WaitForFirstConsumer."""
    if not class_name(claim):
        raise NotFound("PersistentVolumeClaim had no pv name and storageClass name")
    storage_class = get_class(cluster, class_name(claim))
    if not storage_class.volume_binding_mode:
        raise NotFound(f'VolumeBindingMode not set for StorageClass "{storage_class.name}"')
    if storage_class.volume_binding_mode != WAIT_FOR_FIRST_CONSUMER:
        raise NotFound("PersistentVolume had no name")


def class_binds_late(pod: Pod, old: None, new: StorageClass) -> bool:
    return new.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER


def claim_changed(pod: Pod, old: PersistentVolumeClaim | None, new: PersistentVolumeClaim) -> bool:
    return references(pod, new, ephemeral=False)


def volume_moved(pod: Pod, old: PersistentVolume | None, new: PersistentVolume) -> bool:
    return old is None or topologies_of(old) != topologies_of(new)
