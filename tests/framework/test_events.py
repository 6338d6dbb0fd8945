import pytest

from podium import framework as fwk
from podium.errors import PluginError
from podium.framework.events import (
    ACTIONS,
    KINDS,
    ClusterEvent,
    Registration,
    action_names,
)
from podium.live.watching import IN_STATE

UPDATE = ACTIONS["Update"]


def event(resource, *actions):
    return ClusterEvent(resource, sum(ACTIONS[action] for action in actions))


def test_action_bits_are_upstreams():
    single = [bit for bit in ACTIONS.values() if bit.bit_count() == 1]

    assert single == [1 << place for place in range(15)]
    assert sum(single[2:]) == UPDATE == 32764
    assert sum(single) == ACTIONS["All"] == 32767


@pytest.mark.parametrize(
    ("resource", "actions", "bits"),
    [
        pytest.param("Node", "add", 1, id="one"),
        pytest.param("Node", "add|delete|taint", 1 + 2 + 16, id="several"),
        pytest.param("Node", "label", 8, id="label-of-a-node"),
        pytest.param("Pod", "label", 512, id="label-of-a-pod"),
        pytest.param("Pod", "pod-label", 512, id="label-of-a-pod-in-full"),
        pytest.param("AssignedPod", "label", 512, id="label-of-a-placed-pod"),
        pytest.param("TargetPod", "label", 512, id="label-of-the-pod-itself"),
        pytest.param("Pod", "scale-down|scale-up", 1024 + 2048, id="scaled"),
        pytest.param("Pod", "toleration|gates-eliminated", 4096 + 8192, id="pod"),
        pytest.param("Pod", "generated-claim", 16384, id="claim"),
        pytest.param("Node", "allocatable|condition|annotation|declared-feature", 4 + 32 + 64 + 128,
                     id="node"),
        pytest.param("Node", "preemption-policy", 256, id="preemption-policy"),
        pytest.param("PersistentVolume", "update", 32764, id="any-update"),
        pytest.param("foos.v1.example.com", "all", 32767, id="custom-kind"),
    ],
)  # fmt: skip
def test_on(resource, actions, bits):
    assert fwk.on(resource, actions) == Registration(ClusterEvent(resource, bits), None)


def test_on_keeps_the_hint():
    def hint(pod, old, new):
        return True

    assert fwk.on("Node", "add", hint=hint).hint is hint


def test_a_hint_that_nobody_can_call_is_refused():
    with pytest.raises(
        PluginError, match=r"a hint is a function, not 'label'; actions are one text"
    ):
        fwk.on("Node", "add", "label")


def test_unknown_action_is_refused_with_the_known_ones():
    with pytest.raises(PluginError, match=r"no action 'resized' on Node; there are: add, delete"):
        fwk.on("Node", "add|resized")


@pytest.mark.parametrize(
    ("resource", "actions", "problem"),
    [
        pytest.param(3, "add", "fwk.on: a kind is a text such as 'Node', not 3", id="number"),
        pytest.param("Node", 3, "fwk.on: actions are one text such as 'add|label', not 3",
                     id="number-of-actions"),
        pytest.param("Node", "lable", 'did you mean "label"?', id="misspelt-action"),
        pytest.param("Nod", "add", 'did you mean "Node"?', id="misspelt"),
        pytest.param("pods", "add", 'did you mean "Pod"?', id="plural"),
        pytest.param("node", "add", 'did you mean "Node"?', id="lower-case"),
        pytest.param("CSINode", "add", 'did you mean "storage.k8s.io/CSINode"?', id="no-group"),
        pytest.param("storage.k8s.io/CSINod", "add", 'did you mean "storage.k8s.io/CSINode"?',
                     id="misspelt-with-group"),
        pytest.param("", "add", '"" is not the name of a kind; write it as foos.v1.', id="empty"),
        pytest.param("foos.v1", "add", '"foos.v1" is not the name of a kind', id="no-group-at-all"),
        pytest.param("a..b", "add", '"a..b" is not the name of a kind', id="empty-part"),
    ],
)  # fmt: skip
def test_events_that_never_come_are_refused(resource, actions, problem):
    with pytest.raises(PluginError) as refused:
        fwk.on(resource, actions)

    assert problem in str(refused.value)


def test_the_known_kinds_are_those_that_can_be_watched():
    assert set(KINDS) == {
        *("Pod", "AssignedPod", "UnscheduledPod", "TargetPod", "Node", "*"),
        *IN_STATE,
    }


@pytest.mark.parametrize(
    ("registered", "incoming", "expected"),
    [
        pytest.param(event("Node", "Add"), event("Node", "Add"), True, id="same"),
        pytest.param(event("Node", "Add"), event("Node", "Delete"), False, id="other-action"),
        pytest.param(event("Node", "Add"), event("Pod", "Add"), False, id="other-resource"),
        pytest.param(event("Node", "Add", "UpdateNodeTaint"), event("Node", "UpdateNodeTaint"),
                     True, id="one-of-several"),
        pytest.param(event("*", "Add"), event("Node", "Add"), True, id="any-resource"),
        pytest.param(event("*", "Add"), event("Node", "Delete"), False,
                     id="any-resource-other-action"),
        pytest.param(event("*", "All"), event("*", "All"), True, id="wildcard-on-wildcard"),
        pytest.param(event("*", "All"), event("Node", "Update"), True, id="wildcard-on-all"),
        pytest.param(event("Node", "All"), event("*", "All"), False, id="node-not-on-wildcard"),
        pytest.param(event("Pod", "Delete"), event("AssignedPod", "Delete"), True, id="assigned"),
        pytest.param(event("Pod", "UpdatePodLabel"), event("UnscheduledPod", "UpdatePodLabel"),
                     True, id="unscheduled"),
        pytest.param(event("Pod", "UpdatePodLabel"), event("TargetPod", "UpdatePodLabel"),
                     True, id="the-pod-itself"),
        pytest.param(event("Pod", "UpdatePodLabel"), event("UnschedulablePod", "UpdatePodLabel"),
                     True, id="without-a-node-in-1.36"),
        pytest.param(event("TargetPod", "Update"), event("UnschedulablePod", "Update"), True,
                     id="the-pod-itself-in-1.36"),
        pytest.param(event("TargetPod", "Update"), event("AssignedPod", "Update"), False,
                     id="a-placed-pod-is-another"),
        pytest.param(event("AssignedPod", "Update"), event("TargetPod", "Update"), False,
                     id="the-pod-itself-has-no-node"),
        pytest.param(event("UnscheduledPod", "Update"), event("TargetPod", "Update"), False,
                     id="the-pod-itself-is-no-other"),
        pytest.param(event("UnschedulablePod", "Update"), event("TargetPod", "Update"), True,
                     id="old-name"),
        pytest.param(event("Node", "Add"), event("AssignedPod", "Add"), False,
                     id="only-pods-have-phases"),
        pytest.param(event("Pod", "UpdatePodLabel"), event("AssignedPod", "Update"), False,
                     id="generic-update-needs-the-whole-mask"),
        pytest.param(event("Pod", "Update"), event("AssignedPod", "Update"), True,
                     id="generic-update-on-the-whole-mask"),
        pytest.param(event("Pod", "All"), event("AssignedPod", "Update"), True,
                     id="generic-update-on-all"),
        pytest.param(event("Pod", "Update"), event("AssignedPod", "UpdatePodLabel"), True,
                     id="one-update-of-the-mask"),
        pytest.param(event("Pod", "Delete", "UpdatePodGeneratedResourceClaim"),
                     event("AssignedPod", "Update"), False, id="numerically-smaller"),
        pytest.param(ClusterEvent("Node", 4 + 1024), ClusterEvent("Node", 4 + 8 + 16), True,
                     id="numerically-larger-though-bits-are-missing"),
    ],
)  # fmt: skip
def test_covers(registered, incoming, expected):
    assert registered.covers(incoming) == expected


@pytest.mark.parametrize(
    ("actions", "names"),
    [
        pytest.param(1, ["Add"], id="one"),
        pytest.param(1 + 16, ["Add", "UpdateNodeTaint"], id="two"),
        pytest.param(UPDATE, ["Update"], id="update"),
        pytest.param(32767, ["Add", "Delete", "Update"], id="all"),
    ],
)
def test_action_names(actions, names):
    assert action_names(ClusterEvent("Node", actions)) == names


@pytest.mark.parametrize(
    ("subject", "label"),
    [
        pytest.param(event("Node", "Add"), "NodeAdd", id="add"),
        pytest.param(event("Node", "UpdateNodeTaint"), "NodeUpdateNodeTaint", id="one-aspect"),
        pytest.param(event("AssignedPod", "Delete"), "AssignedPodDelete", id="internal-resource"),
        pytest.param(event("TargetPod", "Update"), "TargetPodUpdate", id="generic"),
        pytest.param(event("storage.k8s.io/CSINode", "Update"), "storage.k8s.io/CSINodeUpdate",
                     id="with-a-group"),
    ],
)  # fmt: skip
def test_label(subject, label):
    assert subject.label == label
