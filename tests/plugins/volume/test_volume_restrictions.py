import pytest

from podium import framework as fwk
from podium.plugins.volume.volume_restrictions import (
    VERDICTS,
    VolumeRestrictions,
    claim_appeared,
    rival_is_gone,
)
from podium.testing.builders import node, pod
from tests.support.storage import claim, ephemeral, uses
from tests.support.volume_plugins import Judge

FITS, NO_DISK, TAKEN = VERDICTS


def gce(name="disk", *, read_only=False):
    return uses(gcePersistentDisk={"pdName": name, "readOnly": read_only})


def ebs(name="vol-1", *, read_only=False):
    return uses(awsElasticBlockStore={"volumeID": name, "readOnly": read_only})


def iscsi(iqn="iqn.a", *, portal="p", lun=0, read_only=False):
    source = {"targetPortal": portal, "iqn": iqn, "lun": lun, "readOnly": read_only}
    return uses(iscsi=source)


def rbd(monitors="m1 m2", *, pool="rbd", image="i", read_only=False):
    source = {"monitors": monitors.split(), "pool": pool, "image": image, "readOnly": read_only}
    return uses(rbd=source)


DISKS = [
    pytest.param(gce(), gce(), NO_DISK, id="gce"),
    pytest.param(gce(), gce("other"), FITS, id="gce-other-disk"),
    pytest.param(gce(read_only=True), gce(), NO_DISK, id="gce-one-writes"),
    pytest.param(gce(read_only=True), gce(read_only=True), FITS, id="gce-both-read"),
    pytest.param(ebs(), ebs(), NO_DISK, id="ebs"),
    pytest.param(ebs(), ebs("vol-2"), FITS, id="ebs-other-disk"),
    pytest.param(ebs(read_only=True), ebs(read_only=True), NO_DISK, id="ebs-never-shared"),
    pytest.param(iscsi(), iscsi(), NO_DISK, id="iscsi"),
    pytest.param(iscsi(), iscsi("iqn.b"), FITS, id="iscsi-other-disk"),
    pytest.param(iscsi(), iscsi(portal="q", lun=1), NO_DISK, id="iscsi-portal-and-lun-ignored"),
    pytest.param(iscsi(read_only=True), iscsi(read_only=True), FITS, id="iscsi-both-read"),
    pytest.param(rbd(), rbd(), NO_DISK, id="rbd"),
    pytest.param(rbd("m1 m2"), rbd("m2 m3"), NO_DISK, id="rbd-one-common-monitor"),
    pytest.param(rbd("m1"), rbd("m2"), FITS, id="rbd-no-common-monitor"),
    pytest.param(rbd(), rbd(pool="p"), FITS, id="rbd-other-pool"),
    pytest.param(rbd(), rbd(image="j"), FITS, id="rbd-other-image"),
    pytest.param(rbd(read_only=True), rbd(read_only=True), FITS, id="rbd-both-read"),
    pytest.param(gce("x"), ebs("x"), FITS, id="another-kind-of-disk"),
    pytest.param([*gce("a"), *ebs()], [*gce("b"), *ebs()], NO_DISK, id="one-of-two"),
]


@pytest.mark.parametrize(("mine", "theirs", "expected"), DISKS)
def test_disks_of_two_pods(mine, theirs, expected):
    there = pod("there", node="a", volumes=theirs)
    judge = Judge(VolumeRestrictions, node("a"), node("b"), there)

    assert judge.verdicts(pod(volumes=mine)) == {"a": expected, "b": FITS}


@pytest.mark.parametrize(("mine", "theirs", "expected"), DISKS)
def test_disks_of_two_pods_in_a_dry_run(mine, theirs, expected):
    other = pod("other", volumes=theirs)
    judge = Judge(VolumeRestrictions, node("a"), node("b"))

    assert judge.dry_run(pod(volumes=mine), (other, "a", 1)) == {"a": expected, "b": FITS}


@pytest.mark.parametrize(("mine", "theirs", "expected"), DISKS)
def test_a_pod_is_tried_again_when_one_with_its_disk_goes(mine, theirs, expected):
    gone = pod("gone", node="a", volumes=theirs)

    assert rival_is_gone(pod(volumes=mine), gone, None) is (expected == NO_DISK)
    assert not rival_is_gone(pod(volumes=mine, namespace="other"), gone, None)


def test_two_pods_in_the_way_must_both_go():
    first, second = (pod(name, node="a", volumes=gce()) for name in ("first", "second"))
    judge = Judge(VolumeRestrictions, node("a"), first, second)
    subject = pod(volumes=gce())

    assert judge.dry_run(subject, (first, "a", -1)) == {"a": NO_DISK}
    assert judge.dry_run(subject, (first, "a", -1), (second, "a", -1)) == {"a": FITS}
    assert judge.dry_run(subject, (first, "a", -1), (second, "a", -1), (first, "a", 1)) == {
        "a": NO_DISK
    }


def test_a_disk_is_free_again_when_its_pod_is_gone():
    there = pod("there", node="a", volumes=gce())
    judge = Judge(VolumeRestrictions, node("a"), there)
    assert judge.rejected(pod(volumes=gce())) == "a"

    judge.cluster.remove_pod(there)
    assert judge.rejected(pod(volumes=gce())) == ""


# --- claims that are for one pod only -------------------------------------------------------------


ONCE = claim("once", access_modes=["ReadWriteOncePod"])


def test_a_claim_for_one_pod_is_taken_for_all_nodes():
    holder = pod("holder", node="a", volumes=uses("once"))
    judge = Judge(VolumeRestrictions, node("a"), node("b"), ONCE, holder)

    assert judge.verdicts(pod(volumes=uses("once"))) == {"a": TAKEN, "b": TAKEN}


@pytest.mark.parametrize(
    "objects",
    [
        pytest.param([ONCE], id="nobody-has-it"),
        pytest.param([ONCE, pod("p", node="gone", volumes=uses("once"))], id="its-node-is-gone"),
        pytest.param(
            [ONCE, pod("p", node="a", namespace="other", volumes=uses("once"))],
            id="same-name-in-another-namespace",
        ),
        pytest.param(
            [claim("once"), pod("p", node="a", volumes=uses("once"))], id="claim-for-one-node"
        ),
        pytest.param(
            [ONCE, pod("on", node="a", volumes=[ephemeral("ce")])], id="claim-made-for-that-pod"
        ),
    ],
)
def test_free_claims_leave_the_plugin_out(objects):
    judge = Judge(VolumeRestrictions, node("a"), *objects)

    assert judge.pre_filter(pod(volumes=uses("once"))).is_skip


@pytest.mark.parametrize(
    "volumes", [[], uses(configMap={"name": "c"}), [ephemeral()], uses(nfs={"server": "s"})]
)
def test_other_volumes_leave_the_plugin_out(volumes):
    assert Judge(VolumeRestrictions, node("a")).pre_filter(pod(volumes=volumes)).is_skip


def test_a_claim_becomes_free_in_the_world_where_its_holder_leaves():
    holder = pod("holder", node="a", volumes=uses("once"))
    judge = Judge(VolumeRestrictions, node("a"), node("b"), ONCE, holder)
    subject = pod(volumes=uses("once"))

    assert judge.dry_run(subject, (holder, "a", -1)) == {"a": FITS, "b": TAKEN}


def test_each_claim_counts_once_however_many_hold_it():
    holders = [pod(f"h{n}", node="a", volumes=uses("once")) for n in range(2)]
    judge = Judge(VolumeRestrictions, node("a"), ONCE, *holders)

    # As upstream: the count of holders starts at one, so that the first to leave frees the claim.
    assert judge.dry_run(pod(volumes=uses("once")), (holders[0], "a", -1)) == {"a": FITS}


def test_dry_runs_do_not_compare_namespaces():
    holder = pod("holder", node="a", volumes=uses("once"))
    stranger = pod("stranger", node="b", namespace="other", volumes=uses("once"))
    judge = Judge(VolumeRestrictions, node("a"), node("b"), ONCE, holder, stranger)

    verdicts = judge.dry_run(pod(volumes=uses("once")), (stranger, "b", -1))

    assert verdicts == {"a": TAKEN, "b": FITS}


def test_disks_are_named_before_claims():
    there = pod("there", node="a", volumes=[*uses("once"), *gce()])
    judge = Judge(VolumeRestrictions, node("a"), node("b"), ONCE, there)

    verdicts = judge.verdicts(pod(volumes=[*uses("once"), *gce()]))

    assert verdicts == {"a": NO_DISK, "b": TAKEN}


def test_the_first_missing_claim_is_named():
    status = Judge(VolumeRestrictions, node("a"), claim("there")).pre_filter(
        pod(volumes=uses("there", "nope", "gone"))
    )

    assert status == fwk.Status.unresolvable('persistentvolumeclaim "nope" not found')


# --- equal pods and events ------------------------------------------------------------------------


def test_pods_are_equal_unless_others_can_be_in_the_way():
    holder = pod("holder", node="a", volumes=uses("once"))
    judge = Judge(VolumeRestrictions, node("a"), ONCE, claim("x"), claim("y"), holder)
    sign = judge.plugin.sign

    assert sign(pod()) == sign(pod(volumes=uses("x"))) == sign(pod(volumes=uses("y")))
    assert sign(pod(volumes=gce())) == sign(pod("replica", volumes=gce()))
    different = [sign(pod(volumes=v)) for v in (uses("x"), uses("once"), uses("no"), gce(), ebs())]
    assert len(set(different)) == len(different)


@pytest.mark.parametrize(
    ("volumes", "expected"),
    [
        pytest.param(uses("data"), True, id="same-claim"),
        pytest.param(uses("more"), False, id="other-claim"),
        pytest.param([ephemeral()], False, id="no-claim"),
        pytest.param([], False, id="no-volumes"),
    ],
)
def test_a_pod_is_tried_again_when_one_with_its_claim_goes(volumes, expected):
    gone = pod("gone", volumes=volumes)  # which need not have had a node

    assert rival_is_gone(pod(volumes=uses("data")), gone, None) is expected


def test_a_pod_is_tried_again_when_its_claim_appears():
    subject = pod(volumes=[*uses("data"), ephemeral()])

    assert claim_appeared(subject, None, claim("data"))
    assert not claim_appeared(subject, None, claim("more"))
    assert not claim_appeared(subject, None, claim("data", namespace="other"))
    assert not claim_appeared(subject, None, claim("pod-scratch"))
