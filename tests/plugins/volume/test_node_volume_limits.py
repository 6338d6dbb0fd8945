import pytest

from podium import framework as fwk
from podium.plugins.volume.limits import EXCEEDED
from podium.plugins.volume.node_volume_limits import NodeVolumeLimits, hints
from podium.testing.builders import node, pod
from tests.support.storage import (
    DRIVER,
    EBS,
    EBS_DRIVER,
    attachment,
    claim,
    csi_node,
    ephemeral,
    storage_class,
    uses,
    volume,
)
from tests.support.volume_plugins import Judge

OTHER = "other.example.com"
VOL_1 = uses(awsElasticBlockStore={"volumeID": "vol-1"})


def bound(*names, driver=DRIVER):
    """A claim of each name with a volume of its own."""
    claims = [claim(name, volume=f"pv-{name}") for name in names]
    return [*claims, *(volume(f"pv-{name}", csi=driver) for name in names)]


def full(limit, *objects, driver=DRIVER):
    """Node a may hold so many volumes; node b has no CSINode."""
    return Judge(NodeVolumeLimits, node("a"), node("b"), csi_node("a", {driver: limit}), *objects)


@pytest.mark.parametrize(
    ("limit", "mine", "theirs", "fits"),
    [
        pytest.param(1, "x", "", True, id="fits-exactly"),
        pytest.param(0, "x", "", False, id="none-allowed"),
        pytest.param(1, "x", "y", False, id="one-too-many"),
        pytest.param(2, "x", "y", True, id="room-for-one-more"),
        pytest.param(2, "x z", "y", False, id="room-for-one-of-two"),
        pytest.param(1, "x", "x", True, id="already-there"),
        pytest.param(1, "x y", "x", False, id="one-of-two-already-there"),
        pytest.param(0, "x", "x", True, id="a-full-node-keeps-what-it-has"),
        pytest.param(None, "x", "y", True, id="driver-without-limit"),
    ],
)
def test_filter(limit, mine, theirs, fits):
    there = pod("there", node="a", volumes=uses(*theirs.split()))
    judge = full(limit, *bound("x", "y", "z"), there)

    verdicts = judge.verdicts(pod(volumes=uses(*mine.split())))

    assert verdicts == {"a": fwk.SUCCESS if fits else EXCEEDED, "b": fwk.SUCCESS}


@pytest.mark.parametrize(
    ("objects", "mine", "fits"),
    [
        pytest.param(bound("x", "new", driver=OTHER), uses("new"), True, id="other-driver"),
        pytest.param(
            [claim("x", volume="pv"), claim("new", volume="pv"), volume("pv", csi=DRIVER)],
            uses("new"),
            True,
            id="two-claims-of-one-volume",
        ),
        pytest.param(
            [
                *bound("x"),
                claim("new", storage_class="std"),
                storage_class("std", provisioner=DRIVER),
            ],
            uses("new"),
            False,
            id="unbound-claim-of-the-driver",
        ),
        pytest.param(
            [
                *bound("x"),
                claim("new", volume="gone", storage_class="std"),
                storage_class("std", provisioner=DRIVER),
            ],
            uses("new"),
            False,
            id="volume-is-missing",
        ),
        pytest.param(
            [*bound("x"), claim("new", storage_class="std")], uses("new"), True, id="no-such-class"
        ),
        pytest.param(
            [*bound("x"), claim("new", storage_class=None)], uses("new"), True, id="no-class"
        ),
        pytest.param(
            [
                *bound("x"),
                claim("pod-scratch", volume="pv", owner="uid-pod"),
                volume("pv", csi=DRIVER),
            ],
            [ephemeral()],
            False,
            id="ephemeral",
        ),
        pytest.param(
            bound("x"),
            uses(csi={"driver": DRIVER}),
            True,
            id="csi-volume-inside-the-pod-is-not-counted",
        ),
        pytest.param(
            [claim("new", volume="pv"), volume("pv", nfs={})], uses("new"), True, id="nfs"
        ),
    ],
)
def test_what_counts_beside_one_volume(objects, mine, fits):
    there = pod("there", node="a", volumes=uses("x"))

    assert full(1, *objects, there).rejected(pod(volumes=mine)) == ("" if fits else "a")


@pytest.mark.parametrize(
    ("objects", "mine", "fits"),
    [
        pytest.param([], VOL_1, True, id="inline-disk-already-there"),
        pytest.param(
            [], uses(awsElasticBlockStore={"volumeID": "vol-2"}), False, id="another-inline-disk"
        ),
        pytest.param(
            [
                claim("new", volume="pv"),
                volume("pv", aws_elastic_block_store={"volumeID": "aws://z1/vol-1"}),
            ],
            uses("new"),
            True,
            id="same-disk-behind-a-claim",
        ),
        pytest.param(
            [claim("new", storage_class="ebs"), storage_class("ebs", provisioner=EBS)],
            uses("new"),
            False,
            id="unbound-claim-of-the-in-tree-plugin",
        ),
    ],
)
def test_in_tree_disks_count_for_the_driver_that_took_over(objects, mine, fits):
    there = pod("there", node="a", volumes=VOL_1)
    judge = full(1, *objects, there, driver=EBS_DRIVER)

    assert judge.rejected(pod(volumes=mine)) == ("" if fits else "a")


def test_attachments_count_unless_a_pod_uses_the_volume():
    objects = (*bound("x", "new"), csi_node("b", {DRIVER: 1}))
    there = pod("there", node="a", volumes=uses("x"))
    subject = pod(volumes=uses("new"))

    assert full(2, *objects, there, attachment("va", "a", "pv-x")).rejected(subject) == ""
    assert full(2, *objects, attachment("va", "b", "pv-x")).rejected(subject) == "b"
    # As upstream: what is attached but used by no pod counts beside the pod that brings it.
    assert full(2, *objects, attachment("va", "b", "pv-new")).rejected(subject) == "b"


@pytest.mark.parametrize(
    ("limit", "mine", "attached", "fits"),
    [
        pytest.param(1, "new", "", True, id="its-volume-goes-with-the-pod"),
        pytest.param(1, "new", "x", False, id="its-volume-stays-attached"),
        pytest.param(2, "new", "x", True, id="and-counts-once"),
        pytest.param(1, "x", "", True, id="the-pod-brings-it-back"),
        pytest.param(1, "x", "x", False, id="attached-and-brought-counts-twice"),
        pytest.param(2, "x", "x", True, id="twice-is-not-too-much"),
    ],
)
def test_a_pod_leaves_in_a_dry_run(limit, mine, attached, fits):
    leaving = pod("leaving", node="a", volumes=uses("x"))
    attachments = [attachment("va", "a", f"pv-{name}") for name in attached]
    judge = full(limit, *bound("x", "new"), leaving, *attachments)

    verdicts = judge.dry_run(pod(volumes=uses(mine)), (leaving, "a", -1))

    assert verdicts["a"].ok is fits


def test_claims_of_other_pods_may_be_missing():
    there = pod("there", node="a", volumes=[*uses("gone"), ephemeral()])
    judge = full(1, *bound("new"), there, claim("there-scratch", volume="pv-new", owner="uid-x"))

    assert judge.rejected(pod(volumes=uses("new"))) == ""


BROKEN = [
    pytest.param(
        uses("nope"),
        fwk.Status.unresolvable(
            'looking up PVC default/nope: persistentvolumeclaim "nope" not found'
        ),
        id="missing",
    ),
    pytest.param(
        uses(""), fwk.Status.error("PersistentVolumeClaim had no name"), id="without-a-name"
    ),
    pytest.param(
        [ephemeral()],
        fwk.Status.error(
            "PVC default/pod-scratch was not created for pod default/pod (pod is not owner)"
        ),
        id="not-owned",
    ),
]


@pytest.mark.parametrize(("volumes", "expected"), BROKEN)
def test_every_node_rejects_a_pod_whose_claim_is_not_in_order(volumes, expected):
    judge = full(5, claim("pod-scratch", owner="uid-other"))

    assert judge.verdicts(pod(volumes=volumes)) == {"a": expected, "b": expected}
    assert judge.dry_run(pod(volumes=volumes), (pod("x"), "a", 1))["a"] == expected


@pytest.mark.parametrize(
    "volumes", [[], uses(emptyDir={}), uses("free"), uses(azureFile={}), uses(rbd={})]
)
def test_without_csi_volumes_the_plugin_is_left_out(volumes):
    judge = full(0, claim("free", volume="pv"), volume("pv", nfs={"server": "s"}))

    assert judge.pre_filter(pod(volumes=volumes)).is_skip


def test_pods_are_equal_whose_volumes_nobody_uses():
    there = pod("there", node="a", volumes=uses("used"))
    judge = full(3, *bound("x", "y", "used"), *bound("z", driver=OTHER), there)
    sign = judge.plugin.sign

    assert sign(pod(volumes=uses("x"))) == sign(pod("replica", volumes=uses("y")))
    kinds = [sign(pod(volumes=uses(*names))) for names in ("", "x", "xy", "z", ["used"], ["no"])]
    assert len(set(kinds)) == len(kinds)


# --- events ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param({DRIVER: 1}, {DRIVER: 2}, True, id="rose"),
        pytest.param({DRIVER: 2}, {DRIVER: 2}, False, id="same"),
        pytest.param({DRIVER: 2}, {DRIVER: 1}, False, id="fell"),
        pytest.param({}, {DRIVER: 1}, True, id="new-driver"),
        pytest.param({}, {DRIVER: None}, False, id="new-driver-without-limit"),
        pytest.param({DRIVER: None}, {DRIVER: 1}, True, id="limit-where-there-was-none"),
        pytest.param({DRIVER: 2}, {DRIVER: None}, False, id="limit-gone"),
        pytest.param({DRIVER: 2, OTHER: 1}, {DRIVER: 1, OTHER: 2}, True, id="one-of-two"),
    ],
)
def test_hint_on_limits(before, after, expected):
    assert hints.limit_rose(pod(), csi_node("a", before), csi_node("a", after)) is expected


@pytest.mark.parametrize(
    ("gone", "expected"),
    [
        pytest.param(pod("x", node="a", volumes=uses("data")), True, id="claim"),
        pytest.param(pod("x", node="a", volumes=[ephemeral()]), True, id="ephemeral"),
        pytest.param(pod("x", node="a", volumes=VOL_1), True, id="in-tree-disk"),
        pytest.param(pod("x", node="a", volumes=uses(azureFile={})), True, id="azure-file"),
        pytest.param(pod("x", node="a", volumes=uses(emptyDir={})), False, id="files"),
        pytest.param(pod("x", node="a"), False, id="no-volumes"),
        pytest.param(pod("x", volumes=uses("data")), False, id="it-had-no-node"),
        pytest.param(
            pod("x", volumes=uses("data"), status={"nominated_node_name": "a"}),
            True,
            id="it-was-nominated",
        ),
    ],
)
def test_hint_on_pods(gone, expected):
    assert hints.volumes_left(pod(), gone, None) is expected


def test_hint_on_claims():
    subject = pod(volumes=[*uses("data"), ephemeral()])

    assert hints.claim_appeared(subject, None, claim("data"))
    assert hints.claim_appeared(subject, None, claim("pod-scratch"))
    assert not hints.claim_appeared(subject, None, claim("data", namespace="other"))
    assert not hints.claim_appeared(subject, None, claim("more"))


@pytest.mark.parametrize(
    ("volumes", "expected"),
    [
        pytest.param(uses("data"), True, id="any-claim"),
        pytest.param(VOL_1, True, id="disk-of-the-attacher"),
        pytest.param(uses(cinder={"volumeID": "v"}), False, id="disk-of-another-driver"),
        pytest.param([ephemeral()], False, id="ephemeral"),
        pytest.param([], False, id="no-volumes"),
    ],
)
def test_hint_on_attachments(volumes, expected):
    gone = attachment("va", "a", "pv", attacher=EBS_DRIVER)

    assert hints.volume_was_detached(pod(volumes=volumes), gone, None) is expected
