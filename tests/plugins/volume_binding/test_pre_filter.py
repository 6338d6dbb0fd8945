"""PreFilter: which claims let a pod be scheduled at all."""

import pytest

from podium import framework as fwk
from podium.plugins.volume.binding.pod_claims import IMMEDIATE, PodClaims
from podium.testing.builders import pod
from tests.support.storage import ZONE, claim, ephemeral, storage_class, uses, volume
from tests.support.volume_binding import Trial

OLD_CLASS = "volume.beta.kubernetes.io/storage-class"
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
            [claim(volume="pv", phase="Lost")],
            'persistentvolumeclaim "data" bound to non-existent persistentvolume "pv"',
            id="lost",
        ),
        pytest.param(
            [claim(deletion_timestamp=NOW)],
            'persistentvolumeclaim "data" is being deleted',
            id="deleted",
        ),
        pytest.param(
            [claim(volume="pv", phase="Lost", deletion_timestamp=NOW)],
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
    trial = Trial(claim("web-scratch", owner_references=owners))
    assert trial.pre_filter(pod("web", volumes=[ephemeral()])) == expected


def test_an_ephemeral_volume_waits_for_its_claim():
    status = Trial().pre_filter(pod("web", volumes=[ephemeral()]))
    text = (
        'waiting for ephemeral volume controller to create the persistentvolumeclaim "web-scratch"'
    )
    assert status == fwk.Status.unresolvable(text)


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        pytest.param([claim(storage_class="none")], IMMEDIATE, id="class-is-missing"),
        pytest.param([claim(storage_class=None)], IMMEDIATE, id="no-class"),
        pytest.param([claim(storage_class="")], IMMEDIATE, id="empty-class"),
        pytest.param(
            [claim(), storage_class(volume_binding_mode="Immediate")],
            IMMEDIATE,
            id="immediate-class",
        ),
        pytest.param([claim(), storage_class()], fwk.SUCCESS, id="delayed"),
        pytest.param(
            [claim(volume_name="pv"), storage_class()],
            IMMEDIATE,
            id="asks-for-a-volume-by-name",
        ),
        pytest.param([claim(volume="pv")], fwk.SUCCESS, id="bound"),
        pytest.param(
            [claim(storage_class="x", annotations={OLD_CLASS: "standard"}), storage_class()],
            fwk.SUCCESS,
            id="the-old-annotation-names-the-class",
        ),
        pytest.param(
            [claim(annotations={OLD_CLASS: ""}), storage_class()],
            IMMEDIATE,
            id="even-when-it-is-empty",
        ),
        pytest.param(
            [claim(), storage_class(volume_binding_mode="")],
            fwk.Status.error('VolumeBindingMode not set for StorageClass "standard"'),
            id="class-without-a-mode",
        ),
    ],
)  # fmt: skip
def test_a_claim_must_be_bound_or_wait_for_a_node(objects, expected):
    assert Trial(*objects).pre_filter(pod("web", volumes=uses("data"))) == expected


def test_every_claim_of_the_pod_counts():
    trial = Trial(storage_class(), claim("data"), claim("now", storage_class=None))
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
        storage_class(), claim("big", storage="5Gi"), claim("none", storage=""), claim("small")
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


IN_TREE = {"aws_elastic_block_store": {"volumeID": "vol-1"}}


@pytest.mark.parametrize(
    ("one", "other", "are_equal"),
    [
        pytest.param({}, {}, True, id="volumes-for-anywhere"),
        pytest.param({"on": {ZONE: "z1"}}, {"on": {ZONE: "z1"}}, True, id="in-one-zone"),
        pytest.param({"on": {ZONE: "z1"}}, {"on": {ZONE: "z2"}}, False, id="in-two-zones"),
        pytest.param({"storage": "9Gi"}, {"labels": {"a": "b"}}, True, id="what-does-not-matter"),
        pytest.param({**IN_TREE}, {}, False, id="one-that-may-be-migrated"),
        pytest.param({**IN_TREE}, {**IN_TREE}, True, id="both"),
    ],
)
def test_bound_claims_are_equal_if_their_volumes_are(one, other, are_equal):
    trial = Trial(
        claim("x", volume="v"), volume("v", **one), claim("y", volume="w"), volume("w", **other)
    )
    signs = [trial.plugin.sign(pod("web", volumes=uses(name))) for name in ("x", "y")]
    assert (signs[0] == signs[1]) is are_equal
    hash(tuple(signs))


def test_a_bound_claim_is_not_equal_to_one_that_is_gone_open_or_without_a_volume():
    trial = Trial(
        storage_class(), claim("bound", volume="v"), volume("v"), claim("gone", volume="w"),
        claim("open"), claim("lost", volume="v", phase="Lost"),
    )  # fmt: skip
    names = "bound", "gone", "open", "lost", "missing"
    signs = {trial.plugin.sign(pod("web", volumes=uses(name))) for name in names}
    assert len(signs) == len(names)


def test_a_pod_with_a_claim_of_its_own_has_no_equal():
    own = pod("web", volumes=[ephemeral()])
    with pytest.raises(fwk.NotSignable):
        Trial().plugin.sign(own)


def test_unless_that_claim_is_bound():
    own = pod("web", volumes=[ephemeral()])
    trial = Trial(
        claim("web-scratch", owner_references=OWNED, volume="v"), volume("v"), claim(volume="v")
    )
    assert trial.plugin.sign(own) == trial.plugin.sign(pod("db", volumes=uses("data")))
