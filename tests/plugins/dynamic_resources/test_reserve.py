"""Reserve takes devices in memory; Unreserve gives them back."""

import pytest

from podium import framework as fwk
from podium.testing.builders_devices import resource_claim
from tests.support.dynamic_resources import Trial, claiming, device, devices_of, two_nodes


def test_next_pod_gets_other_devices():
    trial = Trial(*two_nodes(), *(resource_claim(name) for name in ("one", "two", "three")))

    for name in ("one", "two"):
        assert trial.reserve(claiming(name, name=name)).ok

    assert trial.taken == ["a/gpu-0", "a/gpu-1"]
    assert trial.feasible(claiming("three", name="three")) == "b"
    assert trial.handle.client.writes == []  # only PreBind writes


def test_unreserve_frees_what_was_reserved():
    trial = Trial(*two_nodes(), resource_claim("gpu", count=2))
    asking = claiming("gpu")

    trial.reserve(asking)
    trial.unreserve(asking)

    assert (trial.taken, trial.devices.in_flight) == ([], 0)
    assert trial.feasible(asking) == "ab"


def test_unreserve_without_reserve():
    trial = Trial(*two_nodes(), resource_claim("gpu"))
    asking = claiming("gpu")

    trial.plugin.unreserve(fwk.CycleState(), asking, "a")
    trial.verdicts(asking)
    trial.unreserve(asking)

    assert trial.taken == []


def test_allocated_claim_needs_nothing():
    trial = Trial(*two_nodes(), resource_claim("gpu", allocated=device("a/gpu-1")))

    assert trial.reserve(claiming("gpu")).ok
    assert (trial.claims.reserved, trial.taken) == ({}, ["a/gpu-1"])


def test_claims_in_order():
    trial = Trial(
        *two_nodes(3),
        resource_claim("one", count=2),
        resource_claim("had", allocated=device("b/gpu-0")),
        resource_claim("two"),
    )

    assert trial.reserve(claiming("one", "had", "two")).ok

    found = {index: devices_of(one) for index, one in trial.claims.reserved.items()}
    assert found == {0: ["a/gpu-0", "a/gpu-1"], 2: ["a/gpu-2"]}


def test_claim_that_is_named_twice_is_taken_once():
    trial = Trial(*two_nodes(), resource_claim("gpu"))
    asking = claiming("gpu", "gpu")

    trial.reserve(asking)
    assert trial.taken == ["a/gpu-0"]
    trial.unreserve(asking)
    assert trial.taken == []


def test_node_that_filter_did_not_judge():
    """The profile may have its Filter disabled: then nothing was found for the node."""
    trial = Trial(*two_nodes(), resource_claim("gpu"))
    asking = claiming("gpu")
    trial.pre_filter(asking)

    status = trial.plugin.reserve(trial.state, asking, "a")

    assert status == fwk.Status.error("claim allocation not found for node")


@pytest.mark.parametrize("node_name", ["a", "b"])
def test_devices_are_those_of_the_node(node_name):
    trial = Trial(*two_nodes(), resource_claim("gpu"))

    trial.reserve(claiming("gpu"), node_name)

    allocation = trial.claims.reserved[0]
    assert devices_of(allocation) == [f"{node_name}/gpu-0"]
    [term] = allocation.node_selector.node_selector_terms
    assert term.match_fields[0].values == (node_name,)
