import pytest

from podium import framework as fwk
from podium.api.objects import ObjectMeta, Service
from podium.api.workloads import ServiceSpec
from podium.legacy.plugins.service_affinity import ServiceAffinity
from podium.testing.builders import node, pod
from podium.testing.handle import FakeHandle

ARGS = ServiceAffinity.Args(affinity_labels=("rack",))
PLUGIN = ServiceAffinity(ARGS, FakeHandle())
HINTS = PLUGIN.hints
WEB = pod("web", labels="app=web", node_selector="rack=1")


def other(labels="app=web", namespace="default"):
    return pod("other", node="a", labels=labels, namespace=namespace)


def service(namespace="default", **selector):
    meta = ObjectMeta(name="svc", namespace=namespace)
    return Service(metadata=meta, spec=ServiceSpec(selector=selector or None))


def test_events():
    assert [registration.event for registration in PLUGIN.events_to_register()] == [
        fwk.on("Pod", "add|delete|label").event,
        fwk.on("Node", "add|delete|label").event,
        fwk.on("Service", "update|delete").event,
    ]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(other(), None, True, id="peer-goes"),
        pytest.param(None, other("app=web x=y"), True, id="peer-comes"),
        pytest.param(other(), other("app=db"), True, id="peer-changes-its-labels"),
        pytest.param(other(), other("app=web x=y"), False, id="is-a-peer-still"),
        pytest.param(other("app=db"), None, False, id="no-peer"),
        pytest.param(other(namespace="far"), None, False, id="other-namespace"),
        pytest.param(pod("web", labels="app=db"), WEB, True, id="the-pod-itself"),
    ],
)
def test_pods(old, new, expected):
    assert HINTS.peers_changed(WEB, old, new) == expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(None, "rack=1", True, id="node-that-the-pod-wants"),
        pytest.param(None, "rack=2", False, id="node-that-it-does-not"),
        pytest.param("rack=2", None, True, id="node-goes-perhaps-with-the-first-peer"),
        pytest.param("rack=2", "rack=1", True, id="label-changes"),
        pytest.param("rack=2", "rack=2 x=y", False, id="label-that-nobody-agrees-in"),
    ],
)
def test_nodes(old, new, expected):
    old, new = (None if labels is None else node(labels=labels) for labels in (old, new))

    assert HINTS.node_may_agree(WEB, old, new) == expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(service(app="web"), None, True, id="gone"),
        pytest.param(service(app="web"), service(app="db"), True, id="selects-others"),
        pytest.param(service(app="web"), service(), True, id="selects-nobody"),
        pytest.param(service(app="web"), service(app="web"), False, id="selects-it-still"),
        pytest.param(service(app="db"), None, False, id="never-selected-it"),
        pytest.param(service("far", app="web"), None, False, id="other-namespace"),
    ],
)
def test_services(old, new, expected):
    assert HINTS.service_let_go(WEB, old, new) == expected
