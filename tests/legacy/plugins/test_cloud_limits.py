import pytest

from podium import framework as fwk
from podium.legacy.plugins.cloud_limits import (
    AzureDiskLimits,
    CinderLimits,
    EBSLimits,
    GCEPDLimits,
)
from podium.plugins.volume.limits import EXCEEDED
from podium.testing.builders import node, pod
from tests.support.storage import EBS, claim, csi_node, ephemeral, storage_class, uses, volume
from tests.support.volume_plugins import Judge

OWN_LIMIT = "attachable-volumes-aws-ebs"
MIGRATED = "storage.alpha.kubernetes.io/migrated-plugins"


@pytest.fixture(autouse=True)
def _no_limit_for_all(monkeypatch):
    monkeypatch.delenv("KUBE_MAX_PD_VOLS", raising=False)


def disks(*names):
    """EBS volumes inside a pod."""
    return [{"name": each, "awsElasticBlockStore": {"volumeID": each}} for each in names]


def many(kind, field, count):
    return [{"name": f"v{n}", kind: {field: f"d{n}"}} for n in range(count)]


@pytest.mark.parametrize(
    ("plugin", "kind", "field", "limit"),
    [
        pytest.param(EBSLimits, "awsElasticBlockStore", "volumeID", 39, id="EBS"),
        pytest.param(GCEPDLimits, "gcePersistentDisk", "pdName", 16, id="GCE"),
        pytest.param(AzureDiskLimits, "azureDisk", "diskName", 16, id="Azure"),
        pytest.param(CinderLimits, "cinder", "volumeID", 256, id="Cinder"),
    ],
)
def test_usual_limits(plugin, kind, field, limit):
    judge = Judge(plugin, node("a"))

    assert judge.verdicts(pod(volumes=many(kind, field, limit))) == {"a": fwk.SUCCESS}
    assert judge.verdicts(pod(volumes=many(kind, field, limit + 1))) == {"a": EXCEEDED}


@pytest.mark.parametrize(
    ("labels", "limit"),
    [
        pytest.param("node.kubernetes.io/instance-type=m5.large", 25, id="nitro"),
        pytest.param("beta.kubernetes.io/instance-type=c5d.xlarge", 25, id="old-label"),
        pytest.param("node.kubernetes.io/instance-type=t3.nano", 25, id="t3"),
        pytest.param("node.kubernetes.io/instance-type=xt3", 25, id="t3-anywhere"),
        pytest.param("node.kubernetes.io/instance-type=xm5.large", 39, id="m5-at-the-start-only"),
        pytest.param("node.kubernetes.io/instance-type=m4.large", 39, id="not-nitro"),
    ],
)
def test_instance_types_that_take_fewer_ebs_volumes(labels, limit):
    judge = Judge(EBSLimits, node("a", labels=labels))
    subjects = [pod(volumes=disks(*map(str, range(limit + more)))) for more in (0, 1)]

    assert [judge.rejected(subject) for subject in subjects] == ["", "a"]


@pytest.mark.parametrize(
    ("own", "for_all", "limit"),
    [
        pytest.param({OWN_LIMIT: 1}, "2", 1, id="the-node-comes-first"),
        pytest.param({OWN_LIMIT: 0}, "2", 0, id="the-node-may-take-none"),
        pytest.param({}, "2", 2, id="then-the-environment"),
        pytest.param({}, "+2", 2, id="with-a-sign"),
        pytest.param({}, "0", 39, id="nothing-is-ignored"),
        pytest.param({}, "-2", 39, id="negative-is-ignored"),
        pytest.param({}, "two", 39, id="no-number-is-ignored"),
        pytest.param({}, "1_0", 39, id="no-number-in-go-is-ignored"),
    ],
)
def test_whose_limit_counts(own, for_all, limit, monkeypatch):
    monkeypatch.setenv("KUBE_MAX_PD_VOLS", for_all)
    judge = Judge(EBSLimits, node("a", allocatable=own))

    assert judge.rejected(pod(volumes=disks(*map(str, range(limit))))) == ""
    assert judge.rejected(pod(volumes=disks(*map(str, range(limit + 1))))) == "a"


def one(*objects):
    """Node a may hold one EBS volume, and a pod there has one."""
    there = pod("there", node="a", volumes=disks("vol-1"))
    return Judge(EBSLimits, node("a", allocatable={OWN_LIMIT: 1}), node("b"), *objects, there)


@pytest.mark.parametrize(
    ("objects", "volumes", "fits"),
    [
        pytest.param([], disks("vol-1"), True, id="already-there"),
        pytest.param([], disks("vol-2"), False, id="one-more"),
        pytest.param([], uses(gcePersistentDisk={"pdName": "d"}), True, id="another-kind"),
        pytest.param(
            [claim(volume="pv"), volume("pv", aws_elastic_block_store={"volumeID": "vol-2"})],
            uses("data"),
            False,
            id="behind-a-claim",
        ),
        pytest.param(
            [claim(volume="pv"), volume("pv", aws_elastic_block_store={"volumeID": "vol-1"})],
            uses("data"),
            True,
            id="behind-a-claim-and-already-there",
        ),
        pytest.param(
            [claim(volume="pv"), volume("pv", csi="ebs.csi.aws.com")], uses("data"), True, id="csi"
        ),
        pytest.param(
            [claim(storage_class="ebs"), storage_class("ebs", provisioner=EBS)],
            uses("data"),
            False,
            id="to-be-made",
        ),
        pytest.param(
            [claim(volume="gone", storage_class="ebs"), storage_class("ebs", provisioner=EBS)],
            uses("data"),
            False,
            id="volume-is-missing",
        ),
        pytest.param([claim(storage_class="ebs")], uses("data"), True, id="no-such-class"),
        pytest.param(
            [
                claim(annotations={"volume.beta.kubernetes.io/storage-class": "ebs"}),
                storage_class("ebs", provisioner=EBS),
            ],
            uses("data"),
            True,
            id="the-annotation-is-not-read",
        ),
        pytest.param(
            [
                claim("pod-scratch", storage_class="ebs", owner="uid-pod"),
                storage_class("ebs", provisioner=EBS),
            ],
            [ephemeral()],
            False,
            id="ephemeral",
        ),
    ],
)
def test_what_counts_beside_one_volume(objects, volumes, fits):
    assert one(*objects).rejected(pod(volumes=volumes)) == ("" if fits else "a")


def test_dry_runs():
    judge = one()
    there = judge.cluster.pods["uid-there"].pod

    verdicts = judge.dry_run(pod(volumes=disks("vol-2")), (there, "a", -1))

    assert verdicts == {"a": fwk.SUCCESS, "b": fwk.SUCCESS}


@pytest.mark.parametrize(
    ("plugins", "fits"),
    [
        pytest.param(EBS, True, id="migrated"),
        pytest.param(f"kubernetes.io/cinder,{EBS}", True, id="beside-others"),
        pytest.param("kubernetes.io/cinder", False, id="others-only"),
        pytest.param("", False, id="none"),
    ],
)
def test_where_a_csi_driver_serves_the_disks_it_counts_them(plugins, fits):
    judge = one(csi_node("a", {}, annotations={MIGRATED: plugins}))

    assert judge.rejected(pod(volumes=disks("vol-2"))) == ("" if fits else "a")


@pytest.mark.parametrize(
    ("volumes", "reason"),
    [
        (uses("no"), 'looking up PVC default/no: persistentvolumeclaim "no" not found'),
        (uses(""), "PersistentVolumeClaim had no name"),
    ],
    ids=["missing", "without-a-name"],
)
def test_claims_that_are_not_in_order_fail_the_attempt(volumes, reason):
    assert one().verdicts(pod(volumes=volumes))["a"] == fwk.Status.error(reason)


def test_claims_of_other_pods_may_be_missing():
    judge = one(pod("more", node="a", volumes=[*uses("gone"), ephemeral()]))

    assert judge.rejected(pod(volumes=disks("vol-1"))) == ""


@pytest.mark.parametrize("volumes", [[], uses(emptyDir={}), uses("csi")])
def test_without_such_disks_the_plugin_is_left_out(volumes):
    judge = one(claim("csi", volume="pv"), volume("pv", csi="ebs.csi.aws.com"))

    assert judge.pre_filter(pod(volumes=volumes)).is_skip
