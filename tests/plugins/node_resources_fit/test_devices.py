"""Resources that devices provide: what NodeResourcesFit leaves to them, and how it scores them."""

import pytest

from podium import framework as fwk
from podium.devices import DeviceRules
from podium.framework.resource_filter import FilterRule
from podium.framework.resource_scoring import ResourceSpec
from podium.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from podium.plugins.node_resources_fit import NodeResourcesFit
from podium.plugins.node_resources_fit.args import ScoringStrategy
from podium.testing.builders import node, pod
from podium.testing.builders_devices import device_class, resource_claim, resource_slice
from podium.testing.handle import FakeHandle
from tests.support.dynamic_resources import device

GPU = "example.com/gpu"
ASKING = pod("web", cpu="1", memory="1Gi", requests={GPU: 1})
CLASS = device_class("gpu", extended_resource_name=GPU)
# a has four devices of which one is taken, b offers four itself, c has nothing.
CLUSTER = [
    node("a", cpu="4", memory="4Gi"),
    node("b", cpu="4", memory="4Gi", allocatable={GPU: "4"}),
    node("c", cpu="4", memory="4Gi"),
    resource_slice("a-gpus", node="a", devices=4),
    resource_claim("taken", allocated=device("a/gpu-3")),
]
BY_GPU = ScoringStrategy(type="MostAllocated", resources=(ResourceSpec(name=GPU),))


def fit(*objects, rules=None, **args):
    handle = FakeHandle(*objects, device_rules=rules)
    plugin = NodeResourcesFit(NodeResourcesFit.Args(**args), handle)
    handle.use(plugin)
    return plugin, handle


def verdicts(plugin, handle, asking=ASKING):
    state = fwk.CycleState()
    plugin.pre_filter(state, asking, handle.rows)
    one_by_one = [plugin.filter(state, asking, each) for each in handle.rows]
    assert list(plugin.filter_all(state, asking, handle.rows)) == one_by_one
    return dict(zip(handle.rows.names, (s.reasons for s in one_by_one), strict=True))


LACKS = (f"Insufficient {GPU}",)


@pytest.mark.parametrize(
    ("objects", "rules", "expected"),
    [
        pytest.param([CLASS], None, {"a": (), "b": (), "c": ()}, id="left-to-devices"),
        pytest.param([], None, {"a": LACKS, "b": (), "c": LACKS}, id="no-class"),
        pytest.param(
            [CLASS],
            DeviceRules(extended_resource=False),
            {"a": LACKS, "b": (), "c": LACKS},
            id="feature-off",
        ),
    ],
)
def test_filter(objects, rules, expected):
    assert verdicts(*fit(*CLUSTER, *objects, rules=rules)) == expected


def test_what_a_node_offers_itself_is_checked():
    plugin, handle = fit(*CLUSTER, CLASS, pod("other", node="b", requests={GPU: 4}))

    assert verdicts(plugin, handle) == {"a": (), "b": LACKS, "c": ()}
    state = fwk.CycleState()
    plugin.pre_filter(state, ASKING, handle.rows)
    # It would fit an empty node, so preemption may help there.
    statuses = list(plugin.filter_all(state, ASKING, handle.rows))
    assert statuses[1].code is fwk.Code.UNSCHEDULABLE


def test_other_shortages_are_not_made_worse():
    """Too little cpu for now: that the node does not offer the resource plays no part."""
    busy = pod("busy", node="a", cpu="4")
    plugin, handle = fit(*CLUSTER, CLASS, busy)
    state = fwk.CycleState()
    plugin.pre_filter(state, ASKING, handle.rows)

    first = plugin.filter(state, ASKING, handle.rows.at(0))

    assert first == fwk.Status.unschedulable("Insufficient cpu")


def test_needs_say_not_all_for_such_a_pod():
    """Preemption then asks the filter itself."""
    plugin, handle = fit(*CLUSTER, CLASS)
    state = fwk.CycleState()
    plugin.pre_filter(state, ASKING, handle.rows)

    rule = FilterRule(handle.profile, state, ASKING)

    assert (rule.needs, rule.others, rule.decided_by_needs) == ([], [plugin], False)


def test_signature_depends_on_classes():
    without, _ = fit(*CLUSTER)
    with_class, _ = fit(*CLUSTER, CLASS)

    assert without.sign(ASKING) != with_class.sign(ASKING)
    assert without.sign(pod("web")) == with_class.sign(pod("web"))
    scoring, _ = fit(*CLUSTER, CLASS, scoring_strategy=BY_GPU)
    assert scoring.sign(pod("web")) == without.sign(pod("web"))
    with pytest.raises(fwk.NotSignable):  # its scores change with what is taken
        scoring.sign(ASKING)


def test_node_that_joins():
    plugin, _ = fit(CLASS)

    assert plugin.node_became_large_enough(ASKING, None, node("d", cpu="4", memory="4Gi"))
    assert not plugin.node_became_large_enough(ASKING, None, node("d", cpu="500m"))
    same = node("d", cpu="4", memory="4Gi")
    assert plugin.node_became_large_enough(ASKING, same, same)


def test_score_counts_devices():
    """a: one of four is taken, and one more with the pod; b: none of four; c: nothing counts."""
    plugin, handle = fit(*CLUSTER, CLASS, scoring_strategy=BY_GPU)
    state = fwk.CycleState()
    plugin.pre_score(state, ASKING, handle.rows)

    scores = plugin.score_all(state, ASKING, handle.rows)

    assert scores.tolist() == [50, 25, 0]
    assert [plugin.score(state, ASKING, each) for each in handle.rows] == scores.tolist()


def test_balance_counts_devices():
    handle = FakeHandle(*CLUSTER, CLASS)
    args = NodeResourcesBalancedAllocation.Args(
        resources=(ResourceSpec(name="cpu"), ResourceSpec(name=GPU))
    )
    plugin = NodeResourcesBalancedAllocation(args, handle)
    state = fwk.CycleState()
    assert plugin.pre_score(state, ASKING, handle.rows) is None

    scores = plugin.score_all(state, ASKING, handle.rows)

    # a: parts go from (0, 1/4) to (1/4, 1/2), b: from (0, 0) to (1/4, 1/4), c: only cpu counts.
    assert scores.tolist() == [75, 75, 75]
    assert [plugin.score(state, ASKING, each) for each in handle.rows] == scores.tolist()
    with pytest.raises(fwk.NotSignable):
        plugin.sign(ASKING)
