"""Which events may help a pod whose claims could not be served."""

from __future__ import annotations

from podium.api.objects import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolumeClaim,
    Pod,
    StorageClass,
)
from podium.plugins.volume.binding.migration import MIGRATED
from podium.plugins.volume.binding.provisioning import largest_volume
from podium.plugins.volume.claims import references


def class_allows_more(pod: Pod, old: StorageClass | None, new: StorageClass) -> bool:
    return old is None or old.allowed_topologies != new.allowed_topologies


def claim_is_of_pod(
    pod: Pod, old: PersistentVolumeClaim | None, new: PersistentVolumeClaim
) -> bool:
    return references(pod, new, ephemeral=True)


def drivers_took_over(pod: Pod, old: CSINode | None, new: CSINode) -> bool:
    return old is None or old.annotations.get(MIGRATED) != new.annotations.get(MIGRATED)


def driver_stopped_checking(pod: Pod, old: CSIDriver, new: CSIDriver) -> bool:
    """Return whether a driver of the pod's inline volumes no longer publishes capacity.

    As in kube-scheduler, drivers of the pod's claims are not considered.
    """
    is_named = any(volume.csi and volume.csi.driver == new.name for volume in pod.spec.volumes)
    return is_named and bool(old.spec.storage_capacity) and not new.spec.storage_capacity


def pool_takes_larger_volumes(
    pod: Pod, old: CSIStorageCapacity | None, new: CSIStorageCapacity
) -> bool:
    if old is None:
        return True
    before, after = largest_volume(old), largest_volume(new)
    return after is not None and (before is None or after > before)
