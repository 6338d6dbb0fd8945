"""A configuration spelled out reads as the same profiles."""

import pytest

from podium import app, config
from podium.config.explicit import explicit
from podium.config.feature_gates import parse

HEAD = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
FEWER = {
    "schedulerName": "fewer",
    "percentageOfNodesToScore": 30,
    "plugins": {
        "multiPoint": {"disabled": [{"name": "InterPodAffinity"}]},
        "score": {
            "disabled": [{"name": "NodeAffinity"}],
            "enabled": [{"name": "ImageLocality", "weight": 7}],
        },
    },
}
PACKING = {
    "schedulerName": "packing",
    "pluginConfig": [
        {
            "name": "NodeResourcesFit",
            "args": {
                "scoringStrategy": {
                    "type": "MostAllocated",
                    "resources": [{"name": "cpu", "weight": 3}],
                }
            },
        }
    ],
}


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(HEAD, id="default"),
        pytest.param({**HEAD, "percentageOfNodesToScore": 50}, id="percentage"),
        pytest.param({**HEAD, "profiles": [FEWER, PACKING]}, id="two-profiles"),
    ],
)
def test_the_same_profiles(given):
    registry = app.in_tree()
    before = config.from_value(given, registry)

    after = config.from_value(explicit(before), registry)

    assert after.percentage_of_nodes_to_score == before.percentage_of_nodes_to_score
    for one, other in zip(before.profiles, after.profiles, strict=True):
        assert one.scheduler_name == other.scheduler_name
        assert one.order_with_absent == other.order_with_absent
        assert (one.weights, one.args) == (other.weights, other.args)
        assert one.percentage_of_nodes_to_score == other.percentage_of_nodes_to_score


def test_no_arguments_whose_feature_gate_is_off():
    registry, gates = app.in_tree(), parse(["DRASchedulerFilterTimeout=false"])
    before = config.default(registry, gates=gates)

    written = explicit(before)
    args = {each["name"]: each["args"] for each in written["profiles"][0]["pluginConfig"]}

    assert args["DynamicResources"] == {"bindingTimeout": "10m0s"}
    assert config.from_value(written, registry, gates=gates).profiles[0].args == (
        before.profiles[0].args
    )
