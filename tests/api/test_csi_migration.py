"""Which CSI volume an in-tree volume became."""

import pytest

from podium.api.csi_migration import (
    DRIVERS,
    VolumeId,
    counted_driver,
    inline_id,
    migrated_driver,
    persistent_id,
)
from podium.api.objects import PersistentVolume, Volume, decode
from tests.support.storage import volume

BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
ZONE = "topology.kubernetes.io/zone"
PD = "pd.csi.storage.gke.io"
EBS = "ebs.csi.aws.com"
AZURE = "disk.csi.azure.com"


def gce(place: str) -> VolumeId:
    return VolumeId(PD, f"projects/UNSPECIFIED/{place}/disks/d")


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        pytest.param("", gce("zones/UNSPECIFIED"), id="nobody-says-where"),
        pytest.param(f"{ZONE}=z1", gce("zones/z1"), id="one-zone"),
        pytest.param(f"{ZONE}=new {BETA_ZONE}=old", gce("zones/old"), id="old-label-wins"),
        pytest.param(f"{ZONE}=us-a1-b__us-a1-c", gce("regions/us-a1"), id="zones-of-a-region"),
        pytest.param(f"{ZONE}=us-a1-b__eu-a1-c", None, id="zones-of-two-regions"),
        pytest.param(f"{ZONE}=z1__z2", None, id="zones-of-no-region"),
    ],
)
def test_persistent_gce_disk(labels, expected):
    assert (
        persistent_id(volume("pv-data", labels=labels, gce_persistent_disk={"pdName": "d"}))
        == expected
    )


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param(
            {"awsElasticBlockStore": {"volumeID": "vol-1"}}, VolumeId(EBS, "vol-1"), id="ebs"
        ),
        pytest.param(
            {"awsElasticBlockStore": {"volumeID": "aws://us-east-1a/vol-1"}},
            VolumeId(EBS, "vol-1"),
            id="ebs-as-url",
        ),
        pytest.param(
            {"awsElasticBlockStore": {"volumeID": "aws://us-east-1a/disk"}}, None, id="no-ebs-url"
        ),
        pytest.param({"awsElasticBlockStore": {"volumeID": "aws://[/vol-1"}}, None, id="no-url"),
        pytest.param(
            {"azureDisk": {"diskURI": "/a/b", "kind": "Managed"}},
            VolumeId(AZURE, "/a/b"),
            id="managed-azure-disk",
        ),
        pytest.param({"azureDisk": {"diskURI": "/a/b"}}, VolumeId(AZURE, "/a/b"), id="no-kind"),
        pytest.param(
            {"azureDisk": {"diskURI": "/a/b", "kind": "Shared"}}, None, id="unmanaged-azure-disk"
        ),
        pytest.param(
            {"cinder": {"volumeID": "v"}}, VolumeId("cinder.csi.openstack.org", "v"), id="cinder"
        ),
        pytest.param(
            {"portworxVolume": {"volumeID": "v"}}, VolumeId("pxd.portworx.com", "v"), id="portworx"
        ),
        pytest.param({"azureFile": {"shareName": "s"}}, None, id="azure-file-is-not-attached"),
        pytest.param({"vsphereVolume": {"volumePath": "p"}}, None, id="vsphere-is-not-counted"),
        pytest.param({"nfs": {"server": "s", "path": "/"}}, None, id="no-driver-took-it-over"),
        pytest.param(
            {"csi": {"driver": "disk.example.com", "volumeHandle": "h"}},
            VolumeId("disk.example.com", "h"),
            id="csi",
        ),
    ],
)
def test_persistent_volume(source, expected):
    assert persistent_id(decode(PersistentVolume, {"spec": source})) == expected


@pytest.mark.parametrize(
    "source",
    [
        pytest.param({"csi": {"driver": "d"}}, id="csi"),
        pytest.param({"cinder": {}}, id="in-tree"),
    ],
)
def test_a_persistent_volume_without_a_handle_is_not_counted(source):
    assert persistent_id(decode(PersistentVolume, {"spec": source})) is None


def test_inline_volumes():
    def inline(**source):
        return decode(Volume, {"name": "v", **source})

    assert inline_id(inline(gcePersistentDisk={"pdName": "d"})) == gce("zones/UNSPECIFIED")
    assert inline_id(inline(csi={"driver": "d"})) is None  # lives and dies with its pod
    assert inline_id(inline(emptyDir={})) is None
    assert migrated_driver(inline(azureFile={})) == "file.csi.azure.com"
    assert migrated_driver(inline(rbd={})) is None


def test_provisioners():
    assert counted_driver("disk.example.com") == "disk.example.com"
    assert counted_driver("kubernetes.io/aws-ebs") == EBS
    assert counted_driver("kubernetes.io/azure-file") is None
    assert counted_driver("kubernetes.io/vsphere-volume") is None
    assert DRIVERS["kubernetes.io/gce-pd"] == PD
