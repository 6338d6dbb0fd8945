"""Volumes of pods and persistent volumes: the sources that volume plugins distinguish."""

from msgspec import field

from podium.api.meta import (
    Int64,
    LabelSelector,
    ObjectMeta,
    ObjectReference,
    Quantity,
    ResourceList,
    Value,
)


class GCEPersistentDisk(Value, frozen=True, gc=False):
    pd_name: str = ""
    fs_type: str = ""
    partition: Int64 = 0
    read_only: bool = False


class AWSElasticBlockStore(Value, frozen=True, gc=False):
    volume_id: str = field(default="", name="volumeID")
    fs_type: str = ""
    partition: Int64 = 0
    read_only: bool = False


class AzureDisk(Value, frozen=True, gc=False):
    disk_name: str = ""
    disk_uri: str = field(default="", name="diskURI")
    caching_mode: str = ""
    fs_type: str = ""
    kind: str = ""
    read_only: bool = False


class AzureFile(Value, frozen=True, gc=False):
    secret_name: str = ""
    secret_namespace: str = ""
    share_name: str = ""
    read_only: bool = False


class Cinder(Value, frozen=True, gc=False):
    volume_id: str = field(default="", name="volumeID")
    fs_type: str = ""
    read_only: bool = False


class ISCSI(Value, frozen=True, gc=False):
    target_portal: str = ""
    iqn: str = ""
    lun: Int64 = 0
    iscsi_interface: str = ""
    portals: tuple[str, ...] = ()
    fs_type: str = ""
    read_only: bool = False


class RBD(Value, frozen=True, gc=False):
    """A Ceph block device; pods and persistent volumes have the same field names."""

    monitors: tuple[str, ...] = ()
    image: str = ""
    pool: str = ""
    user: str = ""
    keyring: str = ""
    fs_type: str = ""
    read_only: bool = False


class NFS(Value, frozen=True, gc=False):
    server: str = ""
    path: str = ""
    read_only: bool = False


class FibreChannel(Value, frozen=True, gc=False):
    target_wwns: tuple[str, ...] = field(default=(), name="targetWWNs")
    lun: Int64 | None = None
    wwids: tuple[str, ...] = ()
    read_only: bool = False


class PortworxVolume(Value, frozen=True, gc=False):
    volume_id: str = field(default="", name="volumeID")
    fs_type: str = ""
    read_only: bool = False


class VsphereVolume(Value, frozen=True, gc=False):
    volume_path: str = ""
    fs_type: str = ""
    storage_policy_name: str = ""
    storage_policy_id: str = field(default="", name="storagePolicyID")


class HostPath(Value, frozen=True, gc=False):
    path: str = ""
    type: str = ""


class LocalVolume(Value, frozen=True, gc=False):
    path: str = ""
    fs_type: str = ""


class CSIVolume(Value, frozen=True, gc=False):
    """A CSI volume inside a pod (``volume_attributes``) or a persistent one (``volume_handle``)."""

    driver: str = ""
    volume_handle: str = ""
    read_only: bool = False
    fs_type: str = ""
    volume_attributes: dict[str, str] = field(default_factory=dict)


class EmptyDir(Value, frozen=True, gc=False):
    medium: str = ""
    size_limit: Quantity | None = None


class ConfigMapVolume(Value, frozen=True, gc=False):
    name: str = ""
    optional: bool = False


class SecretVolume(Value, frozen=True, gc=False):
    secret_name: str = ""
    optional: bool = False


class ImageVolume(Value, frozen=True, gc=False):
    reference: str = ""
    pull_policy: str = ""


class PersistentVolumeClaimVolume(Value, frozen=True, gc=False):
    claim_name: str = ""
    read_only: bool = False


class VolumeResourceRequirements(Value, frozen=True, gc=False):
    requests: ResourceList = field(default_factory=dict)
    limits: ResourceList = field(default_factory=dict)


class PersistentVolumeClaimSpec(Value, frozen=True, gc=False):
    """``storage_class_name`` of None (take the default class) differs from "" (no class)."""

    access_modes: tuple[str, ...] = ()
    selector: LabelSelector | None = None
    resources: VolumeResourceRequirements = VolumeResourceRequirements()
    volume_name: str = ""
    storage_class_name: str | None = None
    volume_mode: str = ""
    volume_attributes_class_name: str | None = None
    data_source: ObjectReference | None = None


class PersistentVolumeClaimTemplate(Value, frozen=True, gc=False):
    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()


class EphemeralVolume(Value, frozen=True, gc=False):
    volume_claim_template: PersistentVolumeClaimTemplate | None = None


class VolumeSources(Value, frozen=True, gc=False):
    """The sources that pods and persistent volumes have in common."""

    gce_persistent_disk: GCEPersistentDisk | None = None
    aws_elastic_block_store: AWSElasticBlockStore | None = None
    azure_disk: AzureDisk | None = None
    azure_file: AzureFile | None = None
    cinder: Cinder | None = None
    iscsi: ISCSI | None = None
    rbd: RBD | None = None
    nfs: NFS | None = None
    fc: FibreChannel | None = None
    portworx_volume: PortworxVolume | None = None
    vsphere_volume: VsphereVolume | None = None
    host_path: HostPath | None = None
    csi: CSIVolume | None = None


class Volume(VolumeSources, frozen=True, gc=False):
    """A volume of a pod: a name and one source."""

    name: str = ""
    persistent_volume_claim: PersistentVolumeClaimVolume | None = None
    ephemeral: EphemeralVolume | None = None
    config_map: ConfigMapVolume | None = None
    secret: SecretVolume | None = None
    empty_dir: EmptyDir | None = None
    image: ImageVolume | None = None

    @property
    def is_storage(self) -> bool:
        """Whether this is a claim or a disk, rather than files that come with the pod."""
        return (
            self.persistent_volume_claim is not None
            or self.ephemeral is not None
            or self.gce_persistent_disk is not None
            or self.aws_elastic_block_store is not None
            or self.azure_disk is not None
            or self.cinder is not None
            or self.iscsi is not None
            or self.rbd is not None
            or self.portworx_volume is not None
        )
