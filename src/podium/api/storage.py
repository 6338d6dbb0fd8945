"""Persistent volumes, claims and what describes their storage."""

from msgspec import field

from podium.api.affinity import NodeSelector
from podium.api.meta import (
    ApiObject,
    Condition,
    HashedValue,
    Int64,
    LabelSelector,
    ObjectReference,
    Quantity,
    ResourceList,
    Value,
)
from podium.api.volumes import LocalVolume, PersistentVolumeClaimSpec, VolumeSources


class VolumeNodeAffinity(Value, frozen=True, gc=False):
    required: NodeSelector | None = None


class PersistentVolumeSpec(VolumeSources, frozen=True, gc=False):
    capacity: ResourceList = field(default_factory=dict)
    access_modes: tuple[str, ...] = ()
    claim_ref: ObjectReference | None = None
    storage_class_name: str = ""
    persistent_volume_reclaim_policy: str = ""
    volume_mode: str = ""
    volume_attributes_class_name: str | None = None
    node_affinity: VolumeNodeAffinity | None = None
    local: LocalVolume | None = None


class PersistentVolumeStatus(Value, frozen=True, gc=False):
    phase: str = ""


class PersistentVolume(ApiObject, frozen=True, gc=False):
    spec: PersistentVolumeSpec = PersistentVolumeSpec()
    status: PersistentVolumeStatus = PersistentVolumeStatus()


class PersistentVolumeClaimStatus(Value, frozen=True, gc=False):
    phase: str = ""
    access_modes: tuple[str, ...] = ()
    capacity: ResourceList = field(default_factory=dict)
    conditions: tuple[Condition, ...] = ()


class PersistentVolumeClaim(ApiObject, frozen=True, gc=False):
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()
    status: PersistentVolumeClaimStatus = PersistentVolumeClaimStatus()


class TopologySelectorLabelRequirement(HashedValue, frozen=True, gc=False):
    key: str = ""
    values: tuple[str, ...] = ()


class TopologySelectorTerm(HashedValue, frozen=True, gc=False):
    match_label_expressions: tuple[TopologySelectorLabelRequirement, ...] = ()


class StorageClass(ApiObject, frozen=True, gc=False):
    """An empty ``volume_binding_mode`` means Immediate."""

    provisioner: str = ""
    parameters: dict[str, str] = field(default_factory=dict)
    reclaim_policy: str = ""
    allow_volume_expansion: bool = False
    volume_binding_mode: str = ""
    allowed_topologies: tuple[TopologySelectorTerm, ...] = ()


class VolumeNodeResources(HashedValue, frozen=True, gc=False):
    count: Int64 | None = None


class CSINodeDriver(HashedValue, frozen=True, gc=False):
    name: str = ""
    node_id: str = field(default="", name="nodeID")
    topology_keys: tuple[str, ...] = ()
    allocatable: VolumeNodeResources | None = None


class CSINodeSpec(Value, frozen=True, gc=False):
    drivers: tuple[CSINodeDriver, ...] = ()


class CSINode(ApiObject, frozen=True, gc=False):
    spec: CSINodeSpec = CSINodeSpec()


class CSIDriverSpec(Value, frozen=True, gc=False):
    attach_required: bool | None = None
    pod_info_on_mount: bool | None = None
    storage_capacity: bool | None = None
    prevent_pod_scheduling_if_missing: bool | None = None


class CSIDriver(ApiObject, frozen=True, gc=False):
    spec: CSIDriverSpec = CSIDriverSpec()


class CSIStorageCapacity(ApiObject, frozen=True, gc=False):
    node_topology: LabelSelector | None = None
    storage_class_name: str = ""
    capacity: Quantity | None = None
    maximum_volume_size: Quantity | None = None


class VolumeAttachmentSource(Value, frozen=True, gc=False):
    persistent_volume_name: str | None = None
    inline_volume_spec: PersistentVolumeSpec | None = None


class VolumeAttachmentSpec(Value, frozen=True, gc=False):
    attacher: str = ""
    source: VolumeAttachmentSource = VolumeAttachmentSource()
    node_name: str = ""


class VolumeAttachmentStatus(Value, frozen=True, gc=False):
    attached: bool = False


class VolumeAttachment(ApiObject, frozen=True, gc=False):
    spec: VolumeAttachmentSpec = VolumeAttachmentSpec()
    status: VolumeAttachmentStatus = VolumeAttachmentStatus()
