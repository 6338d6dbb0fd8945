"""Which events may help a pod that has too many volumes for every node."""

from podium.api.csi_migration import migrated_driver
from podium.api.objects import CSINode, PersistentVolumeClaim, Pod, Volume, VolumeAttachment
from podium.plugins.volume.claims import references


def limit_rose(pod: Pod, old: CSINode, new: CSINode) -> bool:
    before, after = _limits(old), _limits(new)
    return any(count > before.get(driver, 0) for driver, count in after.items())


def volumes_left(pod: Pod, old: Pod, new: None) -> bool:
    """Return whether a pod with volumes has left its node or its nominated node."""
    had_node = old.node_name or old.nominated_node_name
    return bool(had_node) and any(map(_may_count, old.spec.volumes))


def claim_appeared(pod: Pod, old: None, new: PersistentVolumeClaim) -> bool:
    return references(pod, new, ephemeral=True)


def volume_was_detached(pod: Pod, old: VolumeAttachment, new: None) -> bool:
    """Return whether the detached volume may have counted against the pod's limit."""
    return any(
        volume.persistent_volume_claim is not None or migrated_driver(volume) == old.spec.attacher
        for volume in pod.spec.volumes
    )


def _limits(csi_node: CSINode) -> dict[str, int]:
    """Return the limit of each driver; 0 for a driver without a limit, as in kube-scheduler."""
    return {
        driver.name: (driver.allocatable.count or 0) if driver.allocatable else 0
        for driver in csi_node.spec.drivers
    }


def _may_count(volume: Volume) -> bool:
    has_claim = volume.persistent_volume_claim is not None or volume.ephemeral is not None
    return has_claim or migrated_driver(volume) is not None
