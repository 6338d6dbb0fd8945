"""On which nodes a pod can use its claims."""

import pytest

from podium import framework as fwk
from podium.devices import DeviceRules
from podium.release import V1_36, V1_37
from podium.testing.builders import node
from podium.testing.builders_devices import device_class, resource_claim, resource_slice
from tests.support.dynamic_resources import (
    ON_A,
    Trial,
    allocated,
    claiming,
    device,
    two_nodes,
)

NOT_FREE = ("cannot allocate all claims",)
UNAVAILABLE = ("resourceclaim not available on the node",)
CONDITIONS = {"bindingConditions": ["Ready"], "bindingFailureConditions": ["Broken"]}


def condition(name, value="True"):
    return {"type": name, "status": value, "reason": "Why", "message": "because"}


@pytest.mark.parametrize(
    ("claims", "against_a", "against_b"),
    [
        pytest.param([resource_claim("gpu")], (), (), id="free-everywhere"),
        pytest.param([resource_claim("gpu", count=3)], NOT_FREE, NOT_FREE, id="too-many"),
        pytest.param(
            [resource_claim("gpu"), resource_claim("x", allocated=device("a/gpu-0"))],
            (),
            (),
            id="one-left",
        ),
        pytest.param(
            [resource_claim("gpu", count=2), resource_claim("x", allocated=device("a/gpu-0"))],
            NOT_FREE,
            (),
            id="taken-on-a",
        ),
        pytest.param([allocated(selector=ON_A)], (), UNAVAILABLE, id="allocated-on-a"),
        pytest.param([allocated()], (), (), id="allocated-for-all-nodes"),
    ],
)
def test_nodes(claims, against_a, against_b):
    verdicts = Trial(*two_nodes(), *claims).verdicts(claiming("gpu"))

    assert verdicts == {"a": against_a, "b": against_b}


def test_all_verdicts_rule_out_preemption():
    trial = Trial(*two_nodes(), resource_claim("gpu", count=3))
    trial.pre_filter(claiming("gpu"))

    statuses = trial.plugin.filter_all(trial.state, claiming("gpu"), trial.handle.rows)

    codes = {status.code for status in statuses}
    assert codes == {fwk.Code.UNSCHEDULABLE_AND_UNRESOLVABLE}


def test_what_is_not_free_comes_before_what_is_not_available():
    """As upstream, a claim counts as unavailable only where the others could be allocated."""
    trial = Trial(*two_nodes(), allocated("own", selector=ON_A), resource_claim("gpu", count=3))
    asking = claiming("own", "gpu")

    assert trial.verdicts(asking) == {"a": NOT_FREE, "b": NOT_FREE}
    assert trial.claims.unavailable == set()


@pytest.mark.parametrize(
    ("claim", "feasible"),
    [
        pytest.param(allocated(result=CONDITIONS), "ab", id="not-reported-yet"),
        pytest.param(
            allocated(result=CONDITIONS, since="2023-11-14T22:10:00Z"), "ab", id="in-time"
        ),
        pytest.param(allocated(result=CONDITIONS, since="2023-11-14T20:00:00Z"), "", id="too-late"),
        pytest.param(
            allocated(
                result=CONDITIONS, since="2023-11-14T20:00:00Z", conditions=[condition("Ready")]
            ),
            "ab",
            id="ready",
        ),
        pytest.param(
            allocated(result=CONDITIONS, conditions=[condition("Broken")]), "", id="failed"
        ),
        pytest.param(
            allocated(result=CONDITIONS, conditions=[condition("Broken", "False")]),
            "ab",
            id="has-not-failed",
        ),
    ],
)
def test_devices_that_must_be_prepared(claim, feasible):
    """The clock of tests stands at 2023-11-14T22:13:20Z, and the timeout is ten minutes."""
    assert Trial(*two_nodes(), claim).feasible(claiming("gpu")) == feasible


def test_without_binding_conditions_nothing_is_awaited():
    claim = allocated(result=CONDITIONS, conditions=[condition("Broken")])
    trial = Trial(*two_nodes(), claim, rules=DeviceRules(binding_conditions=False))

    assert trial.feasible(claiming("gpu")) == "ab"


@pytest.mark.parametrize(
    ("release", "feasible"), [(V1_36, "ab"), (V1_37, "b")], ids=["1.36", "1.37"]
)
def test_devices_that_skip_operations_of_the_node(release, feasible):
    able = node("b", declared_features=["DRAOptionalNodeOperations"])
    claim = allocated(result={"skipNodeOperations": ["Prepare"]})
    trial = Trial(node("a"), able, device_class("gpu"), claim, rules=DeviceRules(release))

    assert trial.feasible(claiming("gpu")) == feasible


def test_error_of_a_selector_ends_the_attempt():
    trial = Trial(*two_nodes(), resource_claim("gpu", selectors=['device.attributes["x"].y == 1']))
    asking = claiming("gpu")
    trial.pre_filter(asking)

    statuses = list(trial.plugin.filter_all(trial.state, asking, trial.handle.rows))

    assert [status.code for status in statuses] == [fwk.Code.ERROR, fwk.Code.ERROR]
    assert statuses[0].message.startswith("claim default/gpu: selector #0 on device ")
    assert "no such key: y" in statuses[0].message


def test_search_that_takes_too_long():
    """The first step already takes longer than a millionth of a second."""
    trial = Trial(*two_nodes(), resource_claim("gpu"), filter_timeout=1e-9)
    asking = claiming("gpu")
    trial.pre_filter(asking)

    statuses = list(trial.plugin.filter_all(trial.state, asking, trial.handle.rows))

    assert statuses[0] == fwk.Status.error("node a: timed out trying to allocate devices")


@pytest.mark.parametrize("limit", [pytest.param(0.0, id="zero"), pytest.param(None, id="gate-off")])
def test_search_without_a_limit(limit):
    trial = Trial(*two_nodes(), resource_claim("gpu"), filter_timeout=limit, binding_timeout=None)

    assert trial.feasible(claiming("gpu")) == "ab"


def test_invalid_pool():
    twice = resource_slice("bad", node="a", devices=["gpu-0", "gpu-0"])
    trial = Trial(node("a"), device_class("gpu"), twice, resource_claim("gpu"))

    verdicts = trial.verdicts(claiming("gpu"))

    assert verdicts == {"a": ("invalid resource pools were encountered",)}


def alternatives(*counts):
    listed = [
        {"name": f"s{at}", "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": count}
        for at, count in enumerate(counts)
    ]
    return [{"name": "r", "firstAvailable": listed}]


@pytest.mark.parametrize(
    ("rules", "raw", "normalized"),
    [
        pytest.param(DeviceRules(), [8, 7], [100, 87], id="wanted-most"),
        pytest.param(DeviceRules(prioritized_list=False), None, None, id="feature-off"),
    ],
)
def test_score_prefers_the_first_alternative(rules, raw, normalized):
    trial = Trial(
        *two_nodes(),
        resource_claim("gpu", requests=alternatives(2, 1)),
        resource_claim("x", allocated=device("b/gpu-0")),
        rules=rules,
    )
    asking = claiming("gpu")
    if raw is None:
        off = "has subrequests, but the DRAPrioritizedList feature is disabled"
        text = f"resource claim default/gpu, request r: {off}"
        assert trial.pre_filter(asking) == fwk.Status.unresolvable(text)
        return
    trial.verdicts(asking)

    scores = trial.plugin.score_all(trial.state, asking, trial.handle.rows)

    assert scores.tolist() == raw
    rows = trial.handle.rows
    assert trial.plugin.normalize_score(trial.state, asking, scores, rows).tolist() == normalized


def test_claims_that_have_devices_do_not_score_alone():
    """As upstream, they count only beside a claim that is allocated in this attempt."""
    done = resource_claim("done", requests=alternatives(1), allocated=device("a/gpu-0"))
    trial = Trial(*two_nodes(), done)
    trial.verdicts(claiming("done"))

    scores = trial.plugin.score_all(trial.state, claiming("done"), trial.handle.rows)

    assert scores.tolist() == [0, 0]
