"""Which events an update stands for, and what plugins wait for, by release."""

import pytest
from msgspec.structs import replace

from podium import framework as fwk
from podium.api.nodes import PodPreemptionPolicy
from podium.framework.declared_kinds import registered_in
from podium.framework.event_rules import (
    FIRST_TAINTS,
    event_rules,
    node_events,
    on_all_pods,
    with_first_taints,
)
from podium.framework.events import ACTIONS, Topic
from podium.plugins.node_ports import NodePorts
from podium.release import V1_36, V1_37
from podium.testing.builders import node, pod
from tests.support.toys import Filter

OLD, NEW = event_rules(V1_36), event_rules(V1_37)
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


def test_the_preemption_policy_of_a_node():
    before = node("n")
    policy = PodPreemptionPolicy(disable_resize_preemption=True)
    after = replace(before, spec=replace(before.spec, pod_preemption_policy=policy))

    assert names(node_events(before, after)) == ["UpdateNodePreemptionPolicy"]


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
        pytest.param({"cpu": "1"}, {"cpu": "2"}, ["UpdatePodScaleUp"], id="asks-for-more"),
        pytest.param({}, {"cpu": "2"}, ["UpdatePodScaleUp"], id="asks-for-something"),
        pytest.param({"cpu": "1"}, {"cpu": "1000m"}, ["Update"], id="the-same-amount"),
        pytest.param({"cpu": "2", "memory": "1Gi"}, {"cpu": "1", "memory": "2Gi"},
                     ["UpdatePodScaleDown", "UpdatePodScaleUp"], id="one-less-one-more"),
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
                     {"memory": "1Gi", "labels": "a=1", "tolerates": "a:",
                      "status": {"resource_claim_statuses": CLAIM}},
                     ["UpdatePodLabel", "UpdatePodScaleDown", "UpdatePodScaleUp",
                      "UpdatePodSchedulingGatesEliminated", "UpdatePodToleration",
                      "UpdatePodGeneratedResourceClaim"], id="order"),
    ],
)  # fmt: skip
def test_pod_events(old, new, expected):
    """1.36 does not report larger requests, and is the same otherwise."""
    before, after = pod("p", **old), pod("p", **new)
    without = [action for action in expected if action != "UpdatePodScaleUp"]

    assert names(NEW.pod_events(before, after)) == expected
    assert names(OLD.pod_events(before, after)) == (without or ["Update"])
    assert names(NEW.own_events(before, after)) == expected


@pytest.mark.parametrize(
    ("rules", "on", "resource", "own"),
    [
        pytest.param(NEW, "n", "AssignedPod", "AssignedPod", id="placed"),
        pytest.param(NEW, "", "UnscheduledPod", "TargetPod", id="pending"),
        pytest.param(OLD, "n", "AssignedPod", "AssignedPod", id="placed-in-1.36"),
        pytest.param(OLD, "", "UnschedulablePod", "UnschedulablePod", id="pending-in-1.36"),
    ],
)
@pytest.mark.parametrize("labels", ["", "a=1"], ids=["generic", "aspect"])
def test_pod_events_say_whether_the_pod_is_placed(rules, on, resource, own, labels):
    before, after = pod("p"), pod("p", node=on, labels=labels)

    assert [event.resource for event in rules.pod_events(before, after)] == [resource]
    assert [event.resource for event in rules.own_events(before, after)] == [own]


def test_a_running_resize_counts_what_is_held():
    def resized(held):
        status = {"name": "main", "resources": {"requests": {"cpu": held}}}
        return pod("p", node="n", cpu="1", status={"container_statuses": (status,)})

    assert names(NEW.pod_events(resized("2"), resized("1"))) == ["UpdatePodScaleDown"]
    assert names(NEW.pod_events(resized("1"), resized("2"))) == ["UpdatePodScaleUp"]


# --- registrations --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("registered", "is_added"),
    [
        pytest.param([fwk.on("Node", "add")], True, id="add-alone"),
        pytest.param([fwk.on("Node", "add|label")], True, id="add-and-others"),
        pytest.param([fwk.on("Node", "add|taint")], False, id="taint-in-the-same"),
        pytest.param(
            [fwk.on("Node", "add"), fwk.on("Node", "taint")], False, id="taint-in-another"
        ),
        pytest.param([fwk.on("Node", "add|update")], False, id="taint-within-update"),
        pytest.param([fwk.on("Node", "all")], False, id="taint-within-all"),
        pytest.param([fwk.on("Node", "label|delete")], False, id="no-add"),
        pytest.param([fwk.on("Pod", "add")], False, id="no-node"),
        pytest.param([fwk.on("*", "add")], False, id="every-kind-is-not-node"),
        pytest.param([fwk.on("Node", "add"), fwk.on("*", "all")], True, id="taint-of-every-kind"),
        pytest.param([], False, id="nothing"),
    ],
)
def test_who_waits_for_nodes_waits_for_taints_too(registered, is_added):
    assert with_first_taints(registered) == [*registered, *([FIRST_TAINTS] if is_added else [])]


def test_the_implicit_registration_always_wakes():
    def never(pod, old, new):
        return False

    assert with_first_taints([fwk.on("Node", "add", hint=never)])[-1].hint is None


def hint(pod, old, new):
    return True


TOPIC = Topic(lambda old, new: (), lambda pod: ())
ADDED = fwk.on("AssignedPod", "add", hint, TOPIC)


@pytest.mark.parametrize(
    ("registered", "expected"),
    [
        pytest.param([fwk.on("AssignedPod", "delete", hint)], [fwk.on("Pod", "delete", hint)],
                     id="placed"),
        pytest.param([fwk.on("TargetPod", "label", hint)], [fwk.on("Pod", "label", hint)],
                     id="itself"),
        pytest.param([fwk.on("AssignedPod", "delete", hint), fwk.on("TargetPod", "label", hint)],
                     [fwk.on("Pod", "delete|label", hint)], id="one-hint-is-registered-once"),
        pytest.param([fwk.on("AssignedPod", "delete", hint), fwk.on("TargetPod", "label")],
                     [fwk.on("Pod", "delete", hint), fwk.on("Pod", "label")], id="two-hints"),
        pytest.param([ADDED, fwk.on("AssignedPod", "delete", hint, TOPIC)],
                     [fwk.on("Pod", "add|delete", hint, TOPIC)], id="one-topic-is-kept"),
        pytest.param([fwk.on("TargetPod", "label", hint), ADDED],
                     [fwk.on("Pod", "add|label", hint)], id="a-topic-of-the-second-only"),
        pytest.param([ADDED, fwk.on("TargetPod", "label", hint)],
                     [fwk.on("Pod", "add|label", hint)], id="a-topic-of-the-first-only"),
        pytest.param([fwk.on("resource.k8s.io/ResourceClaim", "add|update|delete")],
                     [fwk.on("resource.k8s.io/ResourceClaim", "add|update")], id="claims"),
        pytest.param([fwk.on("Node", "delete"), fwk.on("Service", "delete")],
                     [fwk.on("Node", "delete"), fwk.on("Service", "delete")], id="others"),
    ],
)  # fmt: skip
def test_registrations_of_1_36_name_all_pods(registered, expected):
    assert on_all_pods(registered) == expected


class Outside(Filter, fwk.EnqueueExtensions):
    def events_to_register(self):
        return [fwk.on("Node", "add"), fwk.on("TargetPod", "label")]


def test_podiums_own_plugins_register_as_in_their_release():
    ports = NodePorts(fwk.NoArgs(), None)
    freed, added = ports.events_to_register()

    assert registered_in(NEW, ports) == [freed, added]
    assert registered_in(OLD, ports) == [fwk.on("Pod", "delete", freed.hint), added, FIRST_TAINTS]


def test_other_plugins_register_what_they_name():
    """Of their own accord they know the new names, which both releases understand."""
    plugin = Outside("O")

    assert registered_in(NEW, plugin) == plugin.events_to_register()
    assert registered_in(OLD, plugin) == [*plugin.events_to_register(), FIRST_TAINTS]
