"""Whether the volumes of a pod are bound by now, according to the objects in the API.

Assumptions are not applied here, as the volume controller and provisioners do not know them.
"""

from __future__ import annotations

from podium import framework as fwk
from podium.api.meta import is_newer
from podium.api.objects import PersistentVolume, PersistentVolumeClaim, Pod
from podium.errors import InvalidObject
from podium.plugins.volume.binding.pod_claims import SELECTED_NODE, BoundVolume, is_bound
from podium.plugins.volume.binding.reservation import Change, Reservation
from podium.plugins.volume.claims import missing

Progress = fwk.Status | None
"""Success when all is bound, an error when it never will be, ``None`` while it is worth waiting."""


def progress(cluster: fwk.ClusterView, reservation: Reservation, pod: Pod) -> Progress:
    """Return the progress of the first volume or claim that is not bound; else success."""
    name = reservation.node_name
    node = cluster.node(name)
    if node is None:
        return _failure(f'failed to get node "{name}": node "{name}" not found')
    if pod.uid not in cluster.pods:
        return _failure(f'pod does not exist any more: pod "{pod.name}" not found')
    for volume in reservation.volumes:
        status = _of_volume(cluster, volume, node)
        if status is None or not status.ok:
            return status
    for claim in reservation.claims:
        status = _of_claim(cluster, claim, node)
        if status is None or not status.ok:
            return status
    return fwk.SUCCESS


def _of_volume(
    cluster: fwk.ClusterView, change: Change[PersistentVolume], node: fwk.NodeInfo
) -> Progress:
    """Return the progress of a volume that was given to a claim: the claim must name it too."""
    volume = cluster.volumes.get(change.wanted.name)
    claim = cluster.objects(PersistentVolumeClaim).get(change.claim.key)
    if volume is None or claim is None:
        gone = change.wanted if volume is None else change.claim
        return _failure(f"failed to check binding: {missing(type(gone), gone.name)}")
    if change.written is not None and is_newer(change.written, volume):
        return None
    if problem := _misplaced(cluster, volume, node):
        return problem
    if volume.spec.claim_ref is None or not volume.spec.claim_ref.uid:
        return _failure(f'ClaimRef got reset for pv "{volume.name}"')
    return fwk.SUCCESS if is_bound(claim) else None


def _of_claim(
    cluster: fwk.ClusterView, change: Change[PersistentVolumeClaim], node: fwk.NodeInfo
) -> Progress:
    """Return the progress of a claim that gets a new volume.

    A provisioner that gives up removes the annotation with the selected node.
    """
    claim = cluster.objects(PersistentVolumeClaim).get(change.claim.key)
    if claim is None:
        gone = missing(PersistentVolumeClaim, change.claim.name)
        return _failure(f"failed to check provisioning pvc: {gone}")
    if change.written is not None and is_newer(change.written, claim):
        return None
    if not claim.annotations:
        return _failure(f'selectedNode annotation reset for PVC "{claim.name}"')
    if claim.annotations.get(SELECTED_NODE) != node.name:
        return _failure(f'provisioning failed for PVC "{claim.name}"')
    if claim.spec.volume_name:
        volume = cluster.volumes.get(claim.spec.volume_name)
        if volume is None:
            return None  # the volume has not been seen yet, or has just been deleted
        if problem := _misplaced(cluster, volume, node):
            return problem
    return fwk.SUCCESS if is_bound(claim) else None


def _misplaced(
    cluster: fwk.ClusterView, volume: PersistentVolume, node: fwk.NodeInfo
) -> fwk.Status | None:
    try:
        if BoundVolume.of(cluster, volume).is_usable_on(node):
            return None
    except InvalidObject as fault:
        return _failure(f"failed to translate pv to csi: {fault}")
    return _failure(
        f'pv "{volume.name}" node affinity doesn\'t match node "{node.name}": '
        "no matching NodeSelectorTerms"
    )


def _failure(text: str) -> fwk.Status:
    return fwk.Status.error(text)
