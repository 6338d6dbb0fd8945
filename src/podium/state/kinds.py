"""The kinds other than pods and nodes that the state keeps, each with the aspect that it changes.

These are the kinds that can be watched.
"""

from collections.abc import Mapping
from typing import Final

from podium.api.meta import ApiObject
from podium.api.objects import (
    CompositePodGroup,
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    DeviceClass,
    DeviceTaintRule,
    Namespace,
    PersistentVolume,
    PersistentVolumeClaim,
    PodDisruptionBudget,
    PodGroup,
    ReplicaSet,
    ReplicationController,
    ResourceClaim,
    ResourceSlice,
    Service,
    StatefulSet,
    StorageClass,
    VolumeAttachment,
)
from podium.state.aspects import Aspect

WORKLOADS: Final[tuple[type[ApiObject], ...]] = (
    Service,
    ReplicationController,
    ReplicaSet,
    StatefulSet,
)
STORAGE: Final[tuple[type[ApiObject], ...]] = (
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    CSINode,
    CSIDriver,
    CSIStorageCapacity,
    VolumeAttachment,
)
DEVICES: Final[tuple[type[ApiObject], ...]] = (
    DeviceClass,
    ResourceClaim,
    ResourceSlice,
    DeviceTaintRule,
)
ASPECTS: Final[Mapping[type[ApiObject], int]] = {
    Namespace: Aspect.NAMESPACES,
    **dict.fromkeys(WORKLOADS, Aspect.WORKLOADS),
    **dict.fromkeys(STORAGE, Aspect.STORAGE),
    **dict.fromkeys(DEVICES, Aspect.DEVICES),
    PodDisruptionBudget: 0,  # no aspect: each preemption reads them again
    PodGroup: 0,  # no filter or score reads them
    CompositePodGroup: 0,
}
