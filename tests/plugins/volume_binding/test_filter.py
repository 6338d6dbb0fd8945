"""Filter: bound volumes, delayed claims and the reasons that are told, for one node and for all."""

import msgspec
import pytest

from podium.api.objects import CSINode, TopologySelectorTerm
from podium.plugins.volume.binding.decision import NO_SPACE, NO_VOLUME, VOLUME_GONE, WRONG_NODE
from podium.testing.builders import node
from tests.support.storage import (
    HOST,
    ZONE,
    claim,
    csi_node,
    driver,
    pool,
    storage_class,
    topologies,
    volume,
)
from tests.support.volume_binding import Trial

CSI = "csi.example.com"
EBS = {"aws_elastic_block_store": {"volumeID": "aws://z/vol-1"}}
EBS_PLUGIN = "kubernetes.io/aws-ebs"


def terms(*expressions, fields=()):
    """Node affinity of one term per expression, each ``(key, operator, values)``."""
    parts = [
        {"matchExpressions": [{"key": key, "operator": operator, "values": values}]}
        for key, operator, values in expressions
    ]
    parts += [{"matchFields": [field]} for field in fields]
    return {"node_affinity": {"required": {"nodeSelectorTerms": parts}}}


@pytest.mark.parametrize(
    ("bound", "feasible"),
    [
        pytest.param({}, "abc", id="no-affinity"),
        pytest.param({"node_affinity": {}}, "abc", id="empty-affinity"),
        pytest.param(terms(), "", id="no-terms"),
        pytest.param({"on": {ZONE: "z1"}}, "a", id="in-a-zone"),
        pytest.param({"on": {HOST: "b"}}, "b", id="on-a-node"),
        pytest.param({"on": {HOST: "gone"}}, "", id="on-a-node-that-is-gone"),
        pytest.param(terms((ZONE, "In", ["z1"]), (HOST, "In", ["c"])), "ac", id="any-term-will-do"),
        pytest.param(terms((ZONE, "NotIn", ["z1"])), "bc", id="not-in"),
        pytest.param(terms((ZONE, "DoesNotExist", [])), "c", id="does-not-exist"),
        pytest.param(terms((HOST, "Gt", ["5"])), "", id="no-number"),
        pytest.param(terms((ZONE, "Like", ["z1"])), "", id="broken"),
        pytest.param(
            terms((ZONE, "Like", ["z1"]), (HOST, "Exists", [])), "abc", id="broken-beside-another"
        ),
        pytest.param(
            terms(fields=[{"key": "metadata.name", "operator": "In", "values": ["a"]}]),
            "abc",
            id="fields-are-not-looked-at",
        ),
    ],
)
def test_the_volume_of_a_bound_claim_must_reach_the_node(bound, feasible):
    verdicts = Trial(claim(volume="pv"), volume(**bound)).verdicts("data")
    assert "".join(name for name, reasons in verdicts.items() if not reasons) == feasible
    assert {reasons for reasons in verdicts.values() if reasons} <= {(WRONG_NODE,)}


def test_a_bound_claim_whose_volume_is_gone():
    assert Trial(claim(volume="gone")).verdicts("data") == dict.fromkeys("abc", (VOLUME_GONE,))


def test_numbers_tell_nodes_apart():
    trial = Trial(claim(volume="pv"), volume(**terms(("cores", "Gt", ["4"]))))
    for name, cores in zip("abc", ("4", "8", "x"), strict=True):
        known = trial.cluster.node(name).node
        trial.cluster.set_node(_labelled(known, cores=cores))
    assert trial.feasible("data") == "b"


def _labelled(known, **labels):
    return node(known.name, labels={**known.labels, **labels})


@pytest.mark.parametrize(
    ("offered", "feasible"),
    [
        pytest.param([], "", id="none"),
        pytest.param([volume(on={ZONE: "z1"})], "a", id="in-one-zone"),
        pytest.param([volume("x", on={HOST: "a"}), volume("y", on={HOST: "c"})], "ac", id="local"),
        pytest.param([volume(storage="1Mi")], "", id="too-small"),
        pytest.param([volume(claim="data", on={HOST: "b"})], "b", id="reserved"),
    ],
)
def test_a_delayed_claim_without_a_provisioner_needs_a_volume(offered, feasible):
    trial = Trial(storage_class(), claim(), *offered)
    verdicts = trial.verdicts("data")
    assert "".join(name for name, reasons in verdicts.items() if not reasons) == feasible
    assert {reasons for reasons in verdicts.values() if reasons} <= {(NO_VOLUME,)}


def test_two_claims_need_two_volumes():
    trial = Trial(
        storage_class(), claim("one"), claim("two"),
        volume("a1", on={HOST: "a"}), volume("b1", on={HOST: "b"}), volume("b2", on={HOST: "b"}),
    )  # fmt: skip
    assert trial.feasible("one", "two") == "b"
    assert trial.feasible("one") == "ab"


def test_the_small_claim_does_not_take_the_volume_of_the_large_one():
    trial = Trial(
        storage_class(), claim("large", storage="5Gi"), claim("small", storage="1Gi"),
        volume("large", storage="5Gi"), volume("small", storage="2Gi"),
    )  # fmt: skip
    assert trial.feasible("large", "small") == "abc"


@pytest.mark.parametrize(
    ("allowed", "feasible"),
    [
        pytest.param({}, "abc", id="anywhere"),
        pytest.param({ZONE: "z1 z9"}, "a", id="in-some-zones"),
        pytest.param({ZONE: "z1", HOST: "c"}, "ac", id="any-term-will-do"),
        pytest.param({"": "z1"}, "", id="a-broken-term-allows-nothing"),
        pytest.param({ZONE: ""}, "", id="so-does-one-without-values"),
    ],
)
def test_a_class_with_a_provisioner_makes_volumes_where_it_may(allowed, feasible):
    trial = Trial(
        storage_class("csi", provisioner=CSI, allowed_topologies=topologies(allowed)),
        claim(storage_class="csi"),
    )
    assert trial.feasible("data") == feasible


def test_a_term_without_expressions_allows_no_node():
    made = storage_class("csi", provisioner=CSI)
    made = msgspec.structs.replace(made, allowed_topologies=(TopologySelectorTerm(),))
    assert Trial(made, claim(storage_class="csi")).feasible("data") == ""


@pytest.mark.parametrize("provisioner", ["", "kubernetes.io/no-provisioner"])
def test_without_a_provisioner_nothing_is_made(provisioner):
    trial = Trial(storage_class(provisioner=provisioner), claim())
    assert trial.verdicts("data") == dict.fromkeys("abc", (NO_VOLUME,))


def test_a_volume_is_made_only_where_none_exists():
    trial = Trial(
        storage_class(provisioner=CSI, allowed_topologies=topologies({ZONE: "z2"})),
        claim(),
        volume(on={HOST: "c"}),
    )
    assert trial.feasible("data") == "bc"


@pytest.mark.parametrize(
    ("objects", "feasible"),
    [
        pytest.param([driver()], "", id="no-pool-at-all"),
        pytest.param([driver(checks_room=False)], "abc", id="driver-does-not-check"),
        pytest.param([driver(checks_room=None)], "abc", id="driver-does-not-say"),
        pytest.param([driver("other")], "abc", id="another-driver-checks"),
        pytest.param([driver(), pool()], "abc", id="everywhere"),
        pytest.param([driver(), pool(on={ZONE: "z1"})], "a", id="in-one-zone"),
        pytest.param([driver(), pool(on=None)], "", id="nowhere"),
        pytest.param([driver(), pool(storage_class="other")], "", id="of-another-class"),
        pytest.param([driver(), pool(capacity="5Gi")], "abc", id="just-enough"),
        pytest.param([driver(), pool(capacity="4Gi")], "", id="too-little"),
        pytest.param([driver(), pool(capacity=None)], "", id="size-not-told"),
        pytest.param([driver(), pool(largest="4Gi")], "", id="volumes-must-be-smaller"),
        pytest.param([driver(), pool(capacity="1Gi", largest="5Gi")], "abc", id="that-decides"),
        pytest.param(
            [driver(), pool("p", on={HOST: "a"}), pool("q", on={HOST: "c"})], "ac", id="pools"
        ),
    ],
)
def test_room_for_a_new_volume(objects, feasible):
    trial = Trial(
        storage_class("csi", provisioner=CSI), claim(storage_class="csi", storage="5Gi"), *objects
    )
    verdicts = trial.verdicts("data")
    assert "".join(name for name, reasons in verdicts.items() if not reasons) == feasible
    assert {reasons for reasons in verdicts.values() if reasons} <= {(NO_SPACE,)}


def test_a_claim_that_asks_for_no_size_needs_no_room():
    made = storage_class("csi", provisioner=CSI)
    assert Trial(made, claim(storage_class="csi", storage=""), driver()).feasible("data") == "abc"


def test_a_claim_stays_with_the_node_that_was_selected_for_it():
    selected = claim(storage_class="csi", selected="b")
    trial = Trial(storage_class("csi", provisioner=CSI), selected, volume(storage_class="csi"))
    assert trial.verdicts("data") == {"a": (NO_VOLUME,), "b": (), "c": (NO_VOLUME,)}


def test_a_selected_node_must_still_have_room():
    made = storage_class("csi", provisioner=CSI)
    trial = Trial(made, claim(storage_class="csi", selected="b"), driver(), pool(capacity="1Mi"))
    assert trial.verdicts("data")["b"] == (NO_SPACE,)


def test_all_problems_of_a_node_are_told_in_order():
    trial = Trial(
        claim("bound", volume="pv"), volume(on={ZONE: "z1"}),
        claim("gone", volume="gone"),
        storage_class("csi", provisioner=CSI), claim("room", storage_class="csi"), driver(),
        storage_class(), claim("none"),
    )  # fmt: skip
    assert trial.verdicts("bound", "none")["b"] == (WRONG_NODE, NO_VOLUME)
    assert trial.verdicts("bound", "room")["b"] == (WRONG_NODE, NO_SPACE)
    assert trial.verdicts("gone", "room")["b"] == (NO_SPACE, VOLUME_GONE)
    assert trial.verdicts("gone", "bound")["b"] == (VOLUME_GONE,)
    assert trial.verdicts("bound", "gone")["b"] == (WRONG_NODE,)


def test_a_selector_that_cannot_be_read_is_a_fault():
    broken = {"selector": {"matchExpressions": [{"key": "tier", "operator": "Like"}]}}
    trial = Trial(storage_class(), claim(**broken), volume())
    assert all("spec.selector" in reasons[0] for reasons in trial.verdicts("data").values())


# --- in-tree volumes that CSI drivers took over ---------------------------------------------------


@pytest.mark.parametrize(
    ("bound", "migrated_on", "feasible"),
    [
        pytest.param({"on": {ZONE: "z1"}}, "", "a", id="not-migrated"),
        pytest.param({"on": {ZONE: "z1"}}, "abc", "c", id="the-driver-has-its-own-zone-label"),
        pytest.param({"on": {ZONE: "z1"}}, "b", "a", id="migrated-elsewhere"),
        pytest.param({"labels": {ZONE: "z1"}}, "", "abc", id="the-label-alone-binds-nothing"),
        pytest.param({"labels": {ZONE: "z0__z1"}}, "abc", "c", id="but-once-migrated"),
        pytest.param({"labels": {ZONE: ""}}, "abc", "abc", id="an-empty-label-does-not"),
        pytest.param(
            {"on": {"failure-domain.beta.kubernetes.io/zone": "z1"}}, "c", "c", id="former-label"
        ),
        pytest.param({"on": {HOST: "a"}, "labels": {ZONE: "z1"}}, "abc", "", id="both-at-once"),
    ],
)
def test_a_migrated_volume_is_where_its_driver_says(bound, migrated_on, feasible):
    nodes = [csi_node(name, migrated=f"{EBS_PLUGIN},kubernetes.io/gce-pd") for name in migrated_on]
    trial = Trial(claim(volume="pv"), volume(**EBS, **bound),
                  *nodes)  # fmt: skip
    known = trial.cluster.node("c").node
    trial.cluster.set_node(_labelled(known, **{"topology.ebs.csi.aws.com/zone": "z1"}))
    assert trial.feasible("data") == feasible


@pytest.mark.parametrize(
    "source",
    [
        pytest.param({"aws_elastic_block_store": {"volumeID": "aws://z/disk-1"}}, id="ebs"),
        pytest.param({"azure_disk": {"diskName": "d", "kind": "Dedicated"}}, id="azure"),
    ],
)
def test_a_volume_without_a_csi_form_fails_where_it_needs_one(source):
    plugins = f"{EBS_PLUGIN},kubernetes.io/azure-disk"
    trial = Trial(claim(volume="pv"), volume(**source), csi_node("a", migrated=plugins))
    verdicts = trial.verdicts("data")
    assert verdicts["a"][0].startswith("PersistentVolume pv: ")
    assert (verdicts["b"], verdicts["c"]) == ((), ())


def test_a_csi_volume_is_never_translated():
    bound = volume(csi="ebs.csi.aws.com", on={ZONE: "z1"})
    assert (
        Trial(claim(volume="pv"), bound, csi_node("a", migrated=EBS_PLUGIN)).feasible("data") == "a"
    )


def test_other_objects_may_be_broken():
    """Nothing but the pod's own claims and their class is looked at."""
    trial = Trial(
        claim(volume="pv"), volume(), volume("broken", **terms((ZONE, "Like", ["z1"]))),
        claim("broken", selector={"matchExpressions": [{"operator": "Like"}]}),
    )  # fmt: skip
    assert trial.feasible("data") == "abc"


def test_nodes_and_their_drivers_may_change():
    """What is remembered of migrated nodes does not outlive a change."""
    trial = Trial(claim(volume="pv"), volume(**EBS, on={ZONE: "z1"}))
    assert trial.feasible("data") == "a"
    trial.cluster.set_object(csi_node("a", migrated=EBS_PLUGIN))
    assert trial.feasible("data") == ""
    trial.cluster.set_object(csi_node("a"))
    assert trial.feasible("data") == "a"
    trial.cluster.set_object(csi_node("d", migrated=EBS_PLUGIN))
    trial.cluster.set_node(node("d", labels={ZONE: "z1", "topology.ebs.csi.aws.com/zone": "z9"}))
    assert trial.feasible("data") == "a"
    trial.cluster.remove_object(CSINode, "d")
    assert trial.feasible("data") == "ad"
