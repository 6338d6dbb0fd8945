import pytest

from podium import framework as fwk
from podium.errors import PluginError
from podium.framework.events import (
    ACTIONS,
    KINDS,
    TAINT_UPDATE,
    ClusterEvent,
    Registration,
    action_names,
    with_implicit,
)
from podium.live.watching import EVENTS_ONLY, IN_STATE

UPDATE = ACTIONS["Update"]


def event(resource, *actions):
    return ClusterEvent(resource, sum(ACTIONS[action] for action in actions))


def test_action_bits_are_upstreams():
    single = [bit for bit in ACTIONS.values() if bit.bit_count() == 1]

    assert single == [1 << place for place in range(13)]
    assert sum(single[2:]) == UPDATE == 8188
    assert sum(single) == ACTIONS["All"] == 8191


@pytest.mark.parametrize(
    ("resource", "actions", "bits"),
    [
        pytest.param("Node", "add", 1, id="one"),
        pytest.param("Node", "add|delete|taint", 1 + 2 + 16, id="several"),
        pytest.param("Node", "label", 8, id="label-of-a-node"),
        pytest.param("Pod", "label", 256, id="label-of-a-pod"),
        pytest.param("Pod", "pod-label", 256, id="label-of-a-pod-in-full"),
        pytest.param("Pod", "scale-down|toleration|gates-eliminated", 512 + 1024 + 2048, id="pod"),
        pytest.param("Pod", "generated-claim", 4096, id="claim"),
        pytest.param("Node", "allocatable|condition|annotation|declared-feature", 4 + 32 + 64 + 128,
                     id="node"),
        pytest.param("PersistentVolume", "update", 8188, id="any-update"),
        pytest.param("foos.v1.example.com", "all", 8191, id="custom-kind"),
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
        *("Pod", "AssignedPod", "UnschedulablePod", "Node", "*"),
        *(*IN_STATE, *EVENTS_ONLY),
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
        pytest.param(event("Pod", "UpdatePodLabel"), event("UnschedulablePod", "UpdatePodLabel"),
                     True, id="unschedulable"),
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


IMPLICIT = Registration(TAINT_UPDATE)


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
    assert with_implicit(registered) == [*registered, *([IMPLICIT] if is_added else [])]


def test_the_implicit_registration_always_wakes():
    def never(pod, old, new):
        return False

    assert with_implicit([fwk.on("Node", "add", hint=never)])[-1].hint is None


@pytest.mark.parametrize(
    ("actions", "names"),
    [
        pytest.param(1, ["Add"], id="one"),
        pytest.param(1 + 16, ["Add", "UpdateNodeTaint"], id="two"),
        pytest.param(UPDATE, ["Update"], id="update"),
        pytest.param(8191, ["Add", "Delete", "Update"], id="all"),
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
        pytest.param(event("UnschedulablePod", "Update"), "UnschedulablePodUpdate", id="generic"),
        pytest.param(event("storage.k8s.io/CSINode", "Update"), "storage.k8s.io/CSINodeUpdate",
                     id="with-a-group"),
    ],
)  # fmt: skip
def test_label(subject, label):
    assert subject.label == label
