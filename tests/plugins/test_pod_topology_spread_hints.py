"""Which events wake a pod that PodTopologySpread rejected."""

import pytest

from podium.api.objects import ObjectMeta, Service, ServiceSpec
from podium.framework.events import ClusterEvent, action_names
from podium.plugins.pod_topology_spread import PodTopologySpread
from podium.testing.builders import node, pod
from podium.testing.handle import FakeHandle

WEB = {"matchLabels": {"app": "web"}}


def hard(key="zone", selector=WEB, **rest):
    written = {"topologyKey": key, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}
    return {**written, "labelSelector": selector, **rest}


def waiting(*constraints, **rest):
    return pod("waiting", labels="app=web", topology_spread_constraints=list(constraints), **rest)


def asked(resource, subject, old, new, handle=None, **args):
    """What the hint registered for this resource says."""
    plugin = PodTopologySpread(PodTopologySpread.Args(**args), handle or FakeHandle())
    (hint,) = [r.hint for r in plugin.events_to_register() if r.event.resource == resource]
    return hint(subject, old, new)


def test_registered_events():
    plugin = PodTopologySpread(PodTopologySpread.Args(), FakeHandle())

    assert [(r.event.resource, action_names(r.event)) for r in plugin.events_to_register()] == [
        ("AssignedPod", ["Add", "Delete", "UpdatePodLabel"]),
        ("TargetPod", ["UpdatePodLabel", "UpdatePodToleration"]),
        ("Node", ["Add", "Delete", "UpdateNodeLabel", "UpdateNodeTaint"]),
    ]
    events = [r.event for r in plugin.events_to_register()]
    assert events[0].covers(ClusterEvent.named("AssignedPod", "Delete"))


PLACED = {"node": "a", "labels": "app=web"}


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        pytest.param(pod("p", **PLACED), True, id="counted"),
        pytest.param(pod("p", node="a", labels="app=db"), False, id="of-another-workload"),
        pytest.param(pod("p", namespace="other", **PLACED), False, id="of-another-namespace"),
        pytest.param(pod("p", labels="app=web"), False, id="waiting-itself"),
        pytest.param(
            pod("p", labels="app=web", status={"nominated_node_name": "a"}), True, id="nominated"
        ),
    ],
)
def test_a_pod_comes_or_goes(other, expected):
    subject = waiting(hard("rack", selector=None), hard())

    assert asked("AssignedPod", subject, None, other) is expected
    assert asked("AssignedPod", subject, other, None) is expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param("app=web", "app=db", True, id="leaves-the-workload"),
        pytest.param("app=db", "app=web", True, id="joins-the-workload"),
        pytest.param("app=web", "app=web tier=1", False, id="stays-in-it"),
        pytest.param("app=db", "app=cache", False, id="stays-out-of-it"),
        pytest.param("app=web", "app=web", False, id="labels-as-before"),
    ],
)
def test_a_placed_pod_changes(before, after, expected):
    old, new = pod("p", node="a", labels=before), pod("p", node="a", labels=after)

    assert asked("AssignedPod", waiting(hard()), old, new) is expected


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        pytest.param("Honor", True, id="taints-matter"),
        pytest.param("", False, id="taints-do-not-matter"),
    ],
)
def test_the_pod_tolerates_more(policy, expected):
    constraint = hard(nodeTaintsPolicy=policy)
    old, new = waiting(constraint), waiting(constraint, tolerates="gpu:")

    assert asked("TargetPod", new, old, new) is expected


def test_a_label_of_the_pod_itself():
    old = pod("waiting", labels="app=db", topology_spread_constraints=[hard()])
    new = waiting(hard())

    assert asked("TargetPod", new, old, new) is True


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(None, "zone=a rack=1", True, id="a-node-with-all-keys-joins"),
        pytest.param(None, "zone=a", False, id="one-without-a-key-joins"),
        pytest.param("zone=a rack=1", None, True, id="one-with-all-keys-leaves"),
        pytest.param("rack=1", None, False, id="one-without-a-key-leaves"),
        pytest.param("zone=a", "zone=a rack=1", True, id="gets-the-last-key"),
        pytest.param("zone=a rack=1", "zone=a", True, id="loses-a-key"),
        pytest.param("zone=a rack=1", "zone=b rack=1", True, id="moves-to-another-zone"),
        pytest.param("zone=a", "zone=b", False, id="moves-but-lacks-a-key"),
        pytest.param("zone=a rack=1", "zone=a rack=1 disk=ssd", False, id="another-label"),
    ],
)
def test_nodes(old, new, expected):
    before, after = (None if labels is None else node(labels=labels) for labels in (old, new))

    assert asked("Node", waiting(hard(), hard("rack")), before, after) is expected


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        pytest.param("zone=a", True, id="of-a-node-that-counts"),
        pytest.param("", False, id="of-one-without-the-key"),
    ],
)
def test_taints(labels, expected):
    old, new = node(labels=labels, taints="gpu:NoSchedule"), node(labels=labels)

    assert asked("Node", waiting(hard()), old, new) is expected


def test_hard_defaults_have_a_say():
    service = Service(ObjectMeta(name="web", namespace="default"), ServiceSpec({"app": "web"}))
    listed = waiting(hard(selector=None)).spec.topology_spread_constraints
    args = {"default_constraints": listed, "defaulting_type": "List"}
    other = pod("p", **PLACED)

    assert asked("AssignedPod", waiting(), None, other, FakeHandle(service), **args) is True
    assert asked("AssignedPod", waiting(), None, other, FakeHandle(), **args) is False
