"""DeviceTaintRules taint devices as if their slices did."""

import msgspec
import pytest

from podium.api.objects import DeviceTaintRule, DeviceTaintRuleSpec, ObjectMeta
from podium.app.feature_gates import LiveOptions
from podium.client.resources import resource_of
from podium.config.feature_gates import FeatureGates
from podium.devices import DeviceRules
from podium.release import V1_36, V1_37
from podium.testing.builders_devices import resource_claim
from tests.support.dynamic_resources import Trial, claiming, two_nodes
from tests.support.releases import kind_of


def rule(name="broken", effect="NoSchedule", **selector):
    taint = {"key": "broken", "effect": effect}
    spec = msgspec.convert({"deviceSelector": selector, "taint": taint}, DeviceTaintRuleSpec)
    return DeviceTaintRule(ObjectMeta(name=name, uid=f"uid-{name}"), spec)


@pytest.mark.parametrize(
    ("given", "feasible"),
    [
        pytest.param(rule(pool="a"), "b", id="pool"),
        pytest.param(rule(driver="gpu.example.com"), "", id="driver"),
        pytest.param(rule(pool="a", device="gpu-0"), "ab", id="one-of-two-devices"),
        pytest.param(rule(driver="other.example.com"), "ab", id="other-driver"),
        pytest.param(rule(pool="a", effect="None"), "ab", id="only-announced"),
    ],
)
def test_rules(given, feasible):
    trial = Trial(*two_nodes(), resource_claim("gpu"))
    assert trial.feasible(claiming("gpu")) == "ab"

    trial.cluster.set_object(given)
    assert trial.feasible(claiming("gpu")) == feasible

    trial.cluster.remove_object(DeviceTaintRule, given.name)
    assert trial.feasible(claiming("gpu")) == "ab"


def test_slices_that_a_rule_changes_are_reported_once():
    trial = Trial(*two_nodes())

    trial.cluster.set_object(rule(pool="a"))

    [(before, after)] = trial.devices.take_newly_tainted()
    assert (before.name, len(after.spec.devices[0].taints)) == ("a-gpus", 1)
    assert trial.devices.take_newly_tainted() == []


def test_without_the_feature():
    rules = DeviceRules(device_taint_rules=False)
    trial = Trial(*two_nodes(), resource_claim("gpu"), rule(pool="a"), rules=rules)

    assert trial.feasible(claiming("gpu")) == "ab"


def test_they_are_watched_since_1_37():
    assert DeviceTaintRule not in kind_of("DynamicResources", V1_36).watches
    assert DeviceTaintRule in kind_of("DynamicResources", V1_37).watches


@pytest.mark.parametrize(
    ("release", "path"),
    [
        (V1_36, "/apis/resource.k8s.io/v1beta2/devicetaintrules"),
        (V1_37, "/apis/resource.k8s.io/v1/devicetaintrules"),
    ],
    ids=str,
)
def test_version_in_which_they_are_read(release, path):
    others = LiveOptions(FeatureGates(release)).resources_by_kind

    assert (others.get(DeviceTaintRule) or resource_of(DeviceTaintRule)).path == path
