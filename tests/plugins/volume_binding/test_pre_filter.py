"""PreFilter: which claims let a pod be scheduled at all."""

import pytest

from podium import framework as fwk
from podium.plugins.volume.binding.pod_claims import IMMEDIATE, PodClaims
from tests.support.builders import pod
from tests.support.claims import ZONE, claim, storage_class, uses, volume
from tests.support.volume_binding import Trial

NOW = "2026-01-01T00:00:00Z"
OWNED = [{"kind": "Pod", "name": "web", "uid": "uid-web", "controller": True}]
OF_ANOTHER = [{"kind": "Pod", "name": "web", "uid": "uid-other", "controller": True}]
NOT_OWNER = "PVC default/web-scratch was not created for pod default/web (pod is not owner)"


@pytest.mark.parametrize(
    ("objects", "reason"),
    [
        pytest.param([], 'persistentvolumeclaim "data" not found', id="missing"),
        pytest.param(
            [claim(namespace="other")],
            'persistentvolumeclaim "data" not found',
            id="in-another-namespace",
        ),
        pytest.param(
            [claim(bound="pv", status={"phase": "Lost"})],
            'persistentvolumeclaim "data" bound to non-existent persistentvolume "pv"',
            id="lost",
        ),
        pytest.param(
            [claim(deleted=NOW)], 'persistentvolumeclaim "data" is being deleted', id="deleted"
        ),
        pytest.param(
            [claim(bound="pv", status={"phase": "Lost"}, deleted=NOW)],
            'persistentvolumeclaim "data" bound to non-existent persistentvolume "pv"',
            id="lost-is-told-before-deleted",
        ),
    ],
)
def test_a_claim_of_no_use_rejects_the_pod(objects, reason):
    status = Trial(*objects).pre_filter(pod("web", volumes=uses("data")))
    assert status == fwk.Status.unresolvable(reason)


@pytest.mark.parametrize(
    ("owners", "expected"),
    [
        pytest.param(OWNED, IMMEDIATE, id="ours"),
        pytest.param(OF_ANOTHER, fwk.Status.unresolvable(NOT_OWNER), id="of-another-pod"),
        pytest.param([], fwk.Status.unresolvable(NOT_OWNER), id="of-nobody"),
    ],
)
def test_an_ephemeral_volume_is_a_claim_owned_by_the_pod(owners, expected):
    trial = Trial(claim("web-scratch", owners=owners))
    assert trial.pre_filter(pod("web", volumes=uses(ephemeral=["scratch"]))) == expected


def test_an_ephemeral_volume_waits_for_its_claim():
    status = Trial().pre_filter(pod("web", volumes=uses(ephemeral=["scratch"])))
    text = (
        'waiting for ephemeral volume controller to create the persistentvolumeclaim "web-scratch"'
    )
    assert status == fwk.Status.unresolvable(text)


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        pytest.param([claim(cls="none")], IMMEDIATE, id="class-is-missing"),
        pytest.param([claim(cls=None)], IMMEDIATE, id="no-class"),
        pytest.param([claim(cls="")], IMMEDIATE, id="empty-class"),
        pytest.param([claim(), storage_class(mode="Immediate")], IMMEDIATE, id="immediate-class"),
        pytest.param([claim(), storage_class()], fwk.SUCCESS, id="delayed"),
        pytest.param(
            [claim(spec={"volumeName": "pv"}), storage_class()],
            IMMEDIATE,
            id="asks-for-a-volume-by-name",
        ),
        pytest.param([claim(bound="pv")], fwk.SUCCESS, id="bound"),
        pytest.param(
            [claim(cls="x", annotations={"volume.beta.kubernetes.io/storage-class": "local"}),
             storage_class()],
            fwk.SUCCESS,
            id="the-old-annotation-names-the-class",
        ),
        pytest.param(
            [claim(annotations={"volume.beta.kubernetes.io/storage-class": ""}), storage_class()],
            IMMEDIATE,
            id="even-when-it-is-empty",
        ),
        pytest.param(
            [claim(), storage_class(mode="")],
            fwk.Status.error('VolumeBindingMode not set for StorageClass "local"'),
            id="class-without-a-mode",
        ),
    ],
)  # fmt: skip
def test_a_claim_must_be_bound_or_wait_for_a_node(objects, expected):
    assert Trial(*objects).pre_filter(pod("web", volumes=uses("data"))) == expected


def test_every_claim_of_the_pod_counts():
    trial = Trial(storage_class(), claim("data"), claim("now", cls=None))
    assert trial.pre_filter(pod("web", volumes=uses("data", "now"))) == IMMEDIATE


def test_a_pod_without_claims_is_skipped():
    trial = Trial()
    others = [{"name": "tmp", "emptyDir": {}}, {"name": "conf", "configMap": {"name": "x"}}]

    assert trial.pre_filter(pod("web")).is_skip
    assert trial.pre_filter(pod("web", volumes=others)).is_skip
    assert trial.state.get(PodClaims) == PodClaims()


def test_a_claim_in_two_volumes_is_one_claim():
    twice = [
        {"name": name, "persistentVolumeClaim": {"claimName": "data"}} for name in ("in", "out")
    ]
    trial = Trial(storage_class(), claim(), volume())
    assert trial.pre_filter(pod("web", volumes=twice)).ok
    assert len(trial.state.get(PodClaims).unmatched) == 1


def test_claims_choose_in_the_order_of_their_size():
    trial = Trial(
        storage_class(), claim("big", size="5Gi"), claim("none", size=""), claim("small")
    )  # fmt: skip
    trial.pre_filter(pod("web", volumes=uses("big", "none", "small")))
    names = [one.claim.name for one in trial.state.get(PodClaims).unmatched]
    assert names == ["none", "small", "big"]


@pytest.mark.parametrize(
    ("one", "other", "are_equal"),
    [
        pytest.param({}, {}, True, id="no-volumes"),
        pytest.param({}, {"volumes": [{"name": "x", "emptyDir": {}}]}, True, id="no-claims"),
        pytest.param({"volumes": uses("a")}, {"volumes": uses("a")}, True, id="the-same-claim"),
        pytest.param({"volumes": uses("a")}, {"volumes": uses("b")}, False, id="other-claims"),
        pytest.param({"volumes": uses("a")}, {}, False, id="one-without"),
        pytest.param(
            {"volumes": uses("a")},
            {"volumes": uses("a"), "namespace": "other"},
            False,
            id="in-another-namespace",
        ),
    ],
)
def test_signatures(one, other, are_equal):
    sign = Trial().plugin.sign
    assert (sign(pod("one", **one)) == sign(pod("other", **other))) is are_equal


IN_TREE = {"awsElasticBlockStore": {"volumeID": "vol-1"}}


@pytest.mark.parametrize(
    ("one", "other", "are_equal"),
    [
        pytest.param({}, {}, True, id="volumes-for-anywhere"),
        pytest.param({"on": {ZONE: "z1"}}, {"on": {ZONE: "z1"}}, True, id="in-one-zone"),
        pytest.param({"on": {ZONE: "z1"}}, {"on": {ZONE: "z2"}}, False, id="in-two-zones"),
        pytest.param({"size": "9Gi"}, {"labels": {"a": "b"}}, True, id="what-does-not-matter"),
        pytest.param({"spec": IN_TREE}, {}, False, id="one-that-may-be-migrated"),
        pytest.param({"spec": IN_TREE}, {"spec": IN_TREE}, True, id="both"),
    ],
)
def test_bound_claims_are_equal_if_their_volumes_are(one, other, are_equal):
    trial = Trial(
        claim("x", bound="v"), volume("v", **one), claim("y", bound="w"), volume("w", **other)
    )
    signs = [trial.plugin.sign(pod("web", volumes=uses(name))) for name in ("x", "y")]
    assert (signs[0] == signs[1]) is are_equal
    hash(tuple(signs))


def test_a_bound_claim_is_not_equal_to_one_that_is_gone_open_or_without_a_volume():
    trial = Trial(
        storage_class(), claim("bound", bound="v"), volume("v"), claim("gone", bound="w"),
        claim("open"), claim("lost", bound="v", status={"phase": "Lost"}),
    )  # fmt: skip
    names = "bound", "gone", "open", "lost", "missing"
    signs = {trial.plugin.sign(pod("web", volumes=uses(name))) for name in names}
    assert len(signs) == len(names)


def test_a_pod_with_a_claim_of_its_own_has_no_equal():
    own = pod("web", volumes=uses(ephemeral=["scratch"]))
    with pytest.raises(fwk.NotSignable):
        Trial().plugin.sign(own)


def test_unless_that_claim_is_bound():
    own = pod("web", volumes=uses(ephemeral=["scratch"]))
    trial = Trial(claim("web-scratch", owners=OWNED, bound="v"), volume("v"), claim(bound="v"))
    assert trial.plugin.sign(own) == trial.plugin.sign(pod("db", volumes=uses("data")))
