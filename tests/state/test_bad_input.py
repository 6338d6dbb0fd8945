"""Objects that no API server would store: refused by name, field and reason; nothing changes."""

import pytest

from podium.api.objects import (
    Namespace,
    Node,
    Pod,
    PodDisruptionBudget,
    Service,
    decode,
    validate,
)
from podium.errors import InvalidObject
from podium.state.cluster import ClusterState
from podium.testing.builders import node, pod
from tests.support import snapshots

PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def known():
    state = ClusterState()
    state.set_node(node("n", labels="zone=x"))
    state.add_pod(pod("old", node="n", cpu="1", labels="app=web"))
    return state


def take(state, kind, data):
    """What a shell does with what it reads: decode, validate, write."""
    obj = decode(kind, data)
    validate(obj)
    if isinstance(obj, Pod):
        state.add_pod(obj)
    elif isinstance(obj, Node):
        state.set_node(obj)
    else:
        state.set_object(obj)


def a_pod(spec=None, status=None, **meta):
    base = {"nodeName": "n", "containers": [{"name": "c"}], **(spec or {})}
    return {
        "metadata": {"name": "web", "namespace": "default", "uid": "u", **meta},
        "spec": base,
        "status": status or {},
    }


def asking(**requests):
    return a_pod({"containers": [{"name": "c", "resources": {"requests": requests}}]})


def a_node(**allocatable):
    return {"metadata": {"name": "n"}, "status": {"allocatable": allocatable}}


def preferring(kind, weight):
    return a_pod({"affinity": {kind: {PREFERRED: [{"weight": weight}]}}})


SELECTOR = {"matchExpressions": [{"key": "not a key", "operator": "Near", "values": ["x"]}]}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
WEB = "Pod default/web: "
OWNERS = [{"name": name, "controller": True} for name in ("one", "two")]


@pytest.mark.parametrize(
    ("kind", "data", "message"),
    [
        pytest.param(Pod, a_pod({"containers": "many"}),
                     WEB + "spec.containers: Expected `array`, got `str`", id="wrong-type"),
        pytest.param(Pod, a_pod({"priority": "high"}),
                     WEB + "spec.priority: Expected `int | null`, got `str`", id="text-for-number"),
        pytest.param(Pod, a_pod({"nodeSelector": {"zone": 5}}),
                     WEB + "spec.nodeSelector[...]: Expected `str`, got `int`",
                     id="number-for-text"),
        pytest.param(Pod, a_pod(labels=["app"]),
                     WEB + "metadata.labels: Expected `object", id="list-for-map"),
        pytest.param(Pod, b"[]", "Pod: Expected `object`, got `array`", id="no-object-at-all"),
        pytest.param(Pod, a_pod(name=""), "Pod default/: metadata.name: must not be empty",
                     id="no-name"),
        pytest.param(Pod, asking(cpu="-1"),
                     WEB + "spec.containers[0].resources.requests[cpu]: must not be negative",
                     id="negative-request"),
        pytest.param(Pod, asking(memory="1K"),
                     WEB + "spec.containers[0].resources.requests[memory]: '1K': unable to parse",
                     id="no-quantity"),
        pytest.param(Pod, asking(cpu=""),
                     WEB + "spec.containers[0].resources.requests[cpu]: '': quantities must match",
                     id="empty-quantity"),
        pytest.param(Pod, asking(cpu="1" * 2000),
                     WEB + "spec.containers[0].resources.requests[cpu]: ", id="absurd-quantity"),
        pytest.param(Pod, a_pod({"overhead": {"cpu": "-5m"}}),
                     WEB + "spec.overhead[cpu]: must not be negative", id="negative-overhead"),
        pytest.param(Pod, a_pod({"topologySpreadConstraints": [{"maxSkew": 0}]}),
                     WEB + "spec.topologySpreadConstraints[0].maxSkew: must be greater than zero",
                     id="max-skew-zero"),
        pytest.param(Pod, a_pod({"topologySpreadConstraints": [{"maxSkew": 1.5}]}),
                     WEB + "spec.topologySpreadConstraints[0].maxSkew: Expected `int`",
                     id="max-skew-one-and-a-half"),
        pytest.param(Pod, a_pod({"affinity": {"podAffinity": {REQUIRED: [
                         {"labelSelector": SELECTOR}]}}}),
                     f"{WEB}spec.affinity.podAffinity.{REQUIRED}[0].labelSelector: "
                     '"Near" is not a valid label selector operator', id="selector"),
        pytest.param(Pod, preferring("podAffinity", 0),
                     f"{WEB}spec.affinity.podAffinity.{PREFERRED}[0].weight: must be from 1 to 100",
                     id="weight-zero"),
        pytest.param(Pod, preferring("nodeAffinity", 10**30),
                     f"{WEB}spec.affinity.nodeAffinity.{PREFERRED}[0].weight: ",
                     id="weight-of-30-digits"),
        pytest.param(Pod, preferring("podAntiAffinity", 1e30),
                     f"{WEB}spec.affinity.podAntiAffinity.{PREFERRED}[0].weight: ",
                     id="weight-with-an-exponent"),
        pytest.param(Pod, a_pod({"priority": 2**31}), WEB + "spec.priority: must be a 32-bit",
                     id="priority-beyond-32-bits"),
        pytest.param(Pod, a_pod(ownerReferences=OWNERS),
                     WEB + "metadata.ownerReferences: only one owner can be the controller, not "
                     "one, two", id="two-controllers"),
        pytest.param(Pod, a_pod(deletionTimestamp="yesterday"),
                     WEB + "metadata.deletionTimestamp: 'yesterday' is not an RFC 3339 time",
                     id="no-time"),
        pytest.param(Pod, a_pod(status={"startTime": "2026-13-01T00:00:00Z"}),
                     WEB + "status.startTime: ", id="no-such-month"),
        pytest.param(Node, a_node(cpu="-4"),
                     "Node n: status.allocatable[cpu]: must not be negative", id="negative-node"),
        pytest.param(Node, a_node(memory="lots"), "Node n: status.allocatable[memory]: 'lots': ",
                     id="node-without-quantity"),
        pytest.param(Node, {"metadata": {"name": "n"}, "spec": {"taints": [7]}},
                     "Node n: spec.taints[0]: Expected `object`, got `int`", id="taint"),
        pytest.param(Namespace, {"metadata": {"name": ""}},
                     "Namespace: metadata.name: must not be empty", id="namespace"),
        pytest.param(Service, {"metadata": {"name": "s"}, "spec": {"selector": "app"}},
                     "Service s: spec.selector: Expected `object | null`, got `str`", id="service"),
        pytest.param(PodDisruptionBudget, {"metadata": {"name": "b"},
                                           "status": {"disruptionsAllowed": "all"}},
                     "PodDisruptionBudget b: status.disruptionsAllowed: Expected `int`",
                     id="budget"),
    ],
)  # fmt: skip
def test_refused(kind, data, message):
    state = known()
    before = snapshots.of_cluster(state)

    with pytest.raises(InvalidObject) as caught:
        take(state, kind, data)

    assert str(caught.value).startswith(message)
    assert snapshots.of_cluster(state) == before
    state.check_invariants()


@pytest.mark.parametrize(
    ("obj", "message"),
    [
        pytest.param(decode(Pod, asking(cpu="-1")),
                     WEB + "spec.containers[0].resources.requests[cpu]: must not be negative",
                     id="negative-request"),
        pytest.param(decode(Pod, asking(memory="1K")),
                     WEB + "spec.containers[0].resources.requests[memory]: '1K': unable to parse",
                     id="no-quantity"),
        pytest.param(decode(Pod, a_pod({"overhead": {"cpu": "1K"}})),
                     WEB + "spec.overhead[cpu]: '1K': unable to parse", id="overhead"),
        pytest.param(decode(Node, a_node(cpu="-4")),
                     "Node n: status.allocatable[cpu]: must not be negative", id="negative-node"),
        pytest.param(decode(Node, a_node(memory="lots")),
                     "Node n: status.allocatable[memory]: 'lots': ", id="node-without-quantity"),
    ],
)  # fmt: skip
def test_what_cannot_be_counted_is_refused_without_asking(obj, message):
    """A running scheduler trusts its API server, and does not validate before it writes."""
    state = known()
    before = snapshots.of_cluster(state)

    with pytest.raises(InvalidObject) as caught:
        state.add_pod(obj) if isinstance(obj, Pod) else state.set_node(obj)

    assert str(caught.value).startswith(message)
    assert snapshots.of_cluster(state) == before
    state.check_invariants()


def test_every_problem_is_named():
    data = asking(cpu="-1")
    data["spec"]["priority"] = 2**40
    data["metadata"]["name"] = "a/b"

    with pytest.raises(InvalidObject) as caught:
        take(known(), Pod, data)

    assert str(caught.value).startswith("Pod default/a/b has 3 problems\n  metadata.name: must not")
    assert [problem.path for problem in caught.value.problems] == [
        "metadata.name",
        "spec.priority",
        "spec.containers[0].resources.requests[cpu]",
    ]


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({"affinity": {"podAffinity": {REQUIRED: [{"labelSelector": SELECTOR}]}}},
                     id="pod-affinity"),
        pytest.param({"affinity": {"podAntiAffinity": {REQUIRED: [
            {"namespaceSelector": SELECTOR, "labelSelector": {}}]}}}, id="namespace-selector"),
        pytest.param({"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "a", "operator": "Near"}]}]}}}}, id="node-affinity"),
        pytest.param({"topologySpreadConstraints": [{"maxSkew": 1, "labelSelector": SELECTOR}]},
                     id="spreading"),
        pytest.param({"tolerations": [{"operator": "Near"}]}, id="toleration"),
        pytest.param({"nodeSelector": {"": ""}}, id="node-selector"),
    ],
)  # fmt: skip
def test_selectors_that_cannot_be_read_are_the_plugins_business(spec):
    """In a running scheduler, which trusts its API server: there they have upstream's meaning."""
    state = known()
    state.add_pod(decode(Pod, a_pod(spec)))
    state.check_invariants()
    state.remove_pod(decode(Pod, a_pod(spec)))
    state.check_invariants()

    assert list(state.pods) == ["uid-old"]


@pytest.mark.parametrize("amount", ["1e30", "9" * 30, "8Ei", "1" + "0" * 900, 2**63, 1e300, "1n"])
def test_absurd_amounts_are_borne(amount):
    state = known()
    take(state, Node, {"metadata": {"name": "m"}, "status": {"allocatable": {
        "cpu": amount, "memory": amount, "pods": amount, "example.com/gpu": amount}}})  # fmt: skip
    for number in range(3):
        data = asking(cpu=amount, memory=amount, **{"example.com/gpu": amount})
        data["metadata"] |= {"name": f"p{number}", "uid": f"u{number}"}
        data["spec"]["nodeName"] = "m"
        take(state, Pod, data)
        state.check_invariants()
    for number in range(3):
        state.remove_pod(pod(f"p{number}", uid=f"u{number}"))

    assert state.node("m").requested("cpu") == 0
    assert state.rows().requested("example.com/gpu").tolist() == [0, 0]
