"""Which events an update of a node or a pod stands for."""

import pytest

from podium.framework.events import ACTIONS, node_events, pod_events
from podium.testing.builders import node, pod

BITS = {bit: name for name, bit in ACTIONS.items()}


def names(events):
    return [BITS[event.actions] for event in events]


CONDITION = {"type": "Ready", "status": "True"}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param({}, {}, [], id="nothing"),
        pytest.param({}, {"resource_version": "7"}, [], id="new-version"),
        pytest.param({"unschedulable": True}, {}, ["UpdateNodeTaint"], id="uncordoned"),
        pytest.param({}, {"unschedulable": True}, [], id="cordoned"),
        pytest.param({"cpu": "4"}, {"cpu": "5"}, ["UpdateNodeAllocatable"], id="allocatable"),
        pytest.param({"cpu": "4"}, {"cpu": "4000m"}, [], id="the-same-amount"),
        pytest.param({}, {"allocatable": {"example.com/gpu": 1}}, ["UpdateNodeAllocatable"],
                     id="new-resource"),
        pytest.param({"labels": "a=1"}, {"labels": "a=2"}, ["UpdateNodeLabel"], id="label"),
        pytest.param({}, {"taints": "a:NoSchedule"}, ["UpdateNodeTaint"], id="taint"),
        pytest.param({"conditions": (CONDITION,)},
                     {"conditions": ({**CONDITION, "status": "False"},)},
                     ["UpdateNodeCondition"], id="condition"),
        pytest.param({"conditions": (CONDITION,)},
                     {"conditions": ({**CONDITION, "lastHeartbeatTime": "2026-01-01T00:00:00Z",
                                      "reason": "KubeletReady"},)}, [], id="heartbeat"),
        pytest.param({}, {"annotations": {"a": "1"}}, ["UpdateNodeAnnotation"], id="annotation"),
        pytest.param({}, {"declared_features": ("F",)}, ["UpdateNodeDeclaredFeature"],
                     id="feature"),
        pytest.param({"unschedulable": True}, {"taints": "a:NoSchedule"},
                     ["UpdateNodeTaint", "UpdateNodeTaint"], id="two-reasons-of-one-kind"),
        pytest.param({"unschedulable": True, "conditions": (CONDITION,)},
                     {"cpu": "1", "labels": "a=1", "taints": "a:NoSchedule", "conditions": (),
                      "annotations": {"a": "1"}, "declared_features": ("F",)},
                     ["UpdateNodeTaint", "UpdateNodeAllocatable", "UpdateNodeLabel",
                      "UpdateNodeTaint", "UpdateNodeCondition", "UpdateNodeAnnotation",
                      "UpdateNodeDeclaredFeature"], id="order"),
    ],
)  # fmt: skip
def test_node_events(old, new, expected):
    events = node_events(node("n", **old), node("n", **new))

    assert names(events) == expected
    assert {event.resource for event in events} <= {"Node"}


GATE = ({"name": "wait"},)
CLAIM = ({"name": "gpu", "resourceClaimName": "gpu-1"},)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param({}, {}, ["Update"], id="nothing-is-still-an-update"),
        pytest.param({}, {"annotations": {"a": "1"}}, ["Update"], id="of-no-interest"),
        pytest.param({"labels": "a=1"}, {"labels": "a=2"}, ["UpdatePodLabel"], id="label"),
        pytest.param({"cpu": "2"}, {"cpu": "1"}, ["UpdatePodScaleDown"], id="asks-for-less"),
        pytest.param({"cpu": "2"}, {}, ["UpdatePodScaleDown"], id="asks-no-more"),
        pytest.param({"cpu": "1"}, {"cpu": "2"}, ["Update"], id="asks-for-more"),
        pytest.param({"cpu": "1"}, {"cpu": "1000m"}, ["Update"], id="the-same-amount"),
        pytest.param({"cpu": "2", "memory": "1Gi"}, {"cpu": "1", "memory": "2Gi"},
                     ["UpdatePodScaleDown"], id="one-less-one-more"),
        pytest.param({"scheduling_gates": GATE}, {}, ["UpdatePodSchedulingGatesEliminated"],
                     id="gates-gone"),
        pytest.param({"scheduling_gates": (*GATE, {"name": "b"})}, {"scheduling_gates": GATE},
                     ["Update"], id="one-gate-left"),
        pytest.param({}, {"tolerates": "a:"}, ["UpdatePodToleration"], id="toleration"),
        pytest.param({"tolerates": "a:"}, {"tolerates": "b:"}, ["Update"],
                     id="as-many-tolerations"),
        pytest.param({}, {"status": {"resource_claim_statuses": CLAIM}},
                     ["UpdatePodGeneratedResourceClaim"], id="claim"),
        pytest.param({}, {"status": {"extended_resource_claim_status":
                                     {"resourceClaimName": "gpu-1"}}},
                     ["UpdatePodGeneratedResourceClaim"], id="extended-claim"),
        pytest.param({"cpu": "2", "scheduling_gates": GATE},
                     {"labels": "a=1", "tolerates": "a:",
                      "status": {"resource_claim_statuses": CLAIM}},
                     ["UpdatePodLabel", "UpdatePodScaleDown", "UpdatePodSchedulingGatesEliminated",
                      "UpdatePodToleration", "UpdatePodGeneratedResourceClaim"], id="order"),
    ],
)  # fmt: skip
def test_pod_events(old, new, expected):
    assert names(pod_events(pod("p", **old), pod("p", **new))) == expected


@pytest.mark.parametrize(
    ("on", "resource"),
    [
        pytest.param("n", "AssignedPod", id="placed"),
        pytest.param("", "UnschedulablePod", id="pending"),
    ],
)
@pytest.mark.parametrize("labels", ["", "a=1"], ids=["generic", "aspect"])
def test_pod_events_say_whether_the_pod_is_placed(on, resource, labels):
    events = pod_events(pod("p"), pod("p", node=on, labels=labels))

    assert [event.resource for event in events] == [resource]


def test_a_running_resize_counts_what_is_held():
    def resized(held):
        status = {"name": "main", "resources": {"requests": {"cpu": held}}}
        return pod("p", node="n", cpu="1", status={"container_statuses": (status,)})

    assert names(pod_events(resized("2"), resized("1"))) == ["UpdatePodScaleDown"]
    assert names(pod_events(resized("1"), resized("2"))) == ["Update"]
