"""Objects that no API server would store, seen all the same: they harm nobody but themselves."""

import copy

import pytest

from podium.testing import SimulatedCluster
from tests.support.scenarios import node, play, pod

pytestmark = pytest.mark.slow

PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
NO_SELECTOR = {"matchExpressions": [{"key": "app", "operator": "Near", "values": ["x"]}]}
HOST = "kubernetes.io/hostname"


def smuggle(cluster: SimulatedCluster, obj):
    """Put it straight into the store, past everything that would refuse it."""
    kept = copy.deepcopy(obj)
    resource = {"Pod": "pods", "Node": "nodes"}[kept["kind"]]
    if resource == "pods":
        kept["metadata"]["namespace"] = "default"
        kept["spec"].setdefault("schedulerName", "default-scheduler")
    found = cluster.get(resource, kept["metadata"]["name"])
    if found is None:
        cluster.api.store.create(resource, kept)
    else:
        kept["metadata"] = found["metadata"]
        cluster.api.store.update(resource, kept)


def term(selector):
    return {"labelSelector": selector, "topologyKey": HOST}


def preferring(weight, selector):
    return {"podAffinity": {PREFERRED: [{"weight": weight, "podAffinityTerm": term(selector)}]}}


def spread(max_skew=1, selector=None):
    constraint = {"maxSkew": max_skew, "topologyKey": HOST, "whenUnsatisfiable": "DoNotSchedule"}
    return [{**constraint, "labelSelector": selector or {}}]


BAD = "Pod default/bad: "
CPU = "spec.containers[0].resources.requests[cpu]: "


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        pytest.param(pod("bad", containers="many"), BAD + "spec.containers: Expected `array`",
                     id="wrong-type"),
        pytest.param(pod("bad", priority="high"), BAD + "spec.priority: Expected `int",
                     id="text-for-number"),
        pytest.param(pod("bad", cpu="1K"), f"{BAD}{CPU}'1K': unable to parse", id="no-quantity"),
        pytest.param(pod("bad", cpu="-1"), f"{BAD}{CPU}must not be negative", id="negative"),
        pytest.param(pod("bad", cpu="1" * 2000), BAD + CPU, id="absurd-quantity"),
        pytest.param(pod("bad", affinity=preferring(10**30, {})),
                     f"{BAD}spec.affinity.podAffinity.{PREFERRED}[0].weight: Expected `int` <=",
                     id="weight-of-30-digits"),
        pytest.param(node("bad", memory="lots"), "Node bad has 2 problems",
                     id="node-without-quantity"),
        pytest.param(node("bad", cpu="-4"), "Node bad has 2 problems", id="negative-node"),
        pytest.param(node("bad", taints=[7]), "Node bad: spec.taints[0]: Expected `object`",
                     id="taint"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_named_until_it_is_mended(bad, message, caplog):
    async def scene(cluster):
        await cluster.create(node("n1"))
        smuggle(cluster, bad)
        await cluster.create(pod("good"))
        await cluster.settle()
        assert cluster.node_of("good") == "n1"
        told = [line for line in caplog.messages if message in line]
        assert len(told) < 5
        assert told[0].startswith(("object not readable", "invalid object ignored"))
        if bad["kind"] == "Pod":
            smuggle(cluster, pod("bad"))
            await cluster.settle()
            assert cluster.node_of("bad") == "n1"
        else:
            smuggle(cluster, node("bad", cpu="64"))
            await cluster.create(pod("large", cpu="32"))
            await cluster.settle()
            assert cluster.node_of("large") == "bad"

    play(scene)


@pytest.mark.parametrize("before", [None, "1"], ids=["from-the-start", "later"])
def test_a_node_that_is_mended_wakes_the_pods_that_wait_for_it(before):
    async def scene(cluster):
        if before is not None:
            await cluster.create(node("n1", cpu=before))
        smuggle(cluster, node("n1", cpu="lots"))
        await cluster.create(pod("web", cpu="2"))
        await cluster.wait(20)
        assert cluster.node_of("web") is None

        smuggle(cluster, node("n1", cpu="4"))
        await cluster.wait(20)  # far less than all pods are tried again after
        assert cluster.node_of("web") == "n1"

    play(scene)


@pytest.mark.parametrize("before", [None, pod("bad", nodeName="n1")], ids=["from-start", "later"])
def test_a_placed_pod_that_is_mended_is_counted(before, caplog):
    async def scene(cluster):
        await cluster.create(node("n1", cpu="4"))
        if before is not None:
            await cluster.create(before)
        smuggle(cluster, pod("bad", cpu="1K", nodeName="n1"))
        await cluster.settle()
        smuggle(cluster, pod("bad", cpu="3", nodeName="n1"))
        await cluster.create(pod("web", cpu="2"))
        await cluster.settle()
        assert "1 Insufficient cpu" in cluster.why_pending("web")

        smuggle(cluster, pod("bad", cpu="1K", nodeName="n1"))
        await cluster.settle()
        smuggle(cluster, pod("bad", cpu="1", nodeName="n1"))
        await cluster.wait(20)
        assert cluster.node_of("web") == "n1"

    play(scene)
    assert "Pod default/bad: spec.containers[0].resources.requests[cpu]: '1K'" in caplog.text
    told = [record for record in caplog.records if record.name.startswith("podium.live")]
    assert not any(record.exc_info for record in told)


def test_a_waiting_pod_that_turns_bad_goes_on_as_it_was():
    async def scene(cluster):
        await cluster.create(node("n1"), pod("bad", cpu="64"))
        await cluster.settle()
        smuggle(cluster, pod("bad", cpu="1K"))
        await cluster.create(node("n2", cpu="8"))  # it is tried again, in vain
        await cluster.create(pod("good"))
        await cluster.wait(20)
        assert cluster.node_of("good") is not None

        await cluster.create(node("n3", cpu="80"))
        await cluster.wait(20)
        assert cluster.node_of("bad") == "n3"

    play(scene)


@pytest.mark.parametrize(
    ("bad", "why", "most"),
    [
        pytest.param(pod("bad", topologySpreadConstraints=spread(max_skew=0)),
                     "2 node(s) didn't match pod topology spread constraints", 3,
                     id="max-skew-zero"),
        pytest.param(pod("bad", topologySpreadConstraints=spread(selector=NO_SELECTOR)),
                     'PodTopologySpread": "Near" is not a valid label selector operator', 15,
                     id="spread-over-no-selector"),
        pytest.param(pod("bad", affinity={"podAffinity": {REQUIRED: [term(NO_SELECTOR)]}}),
                     'requiredAffinityTerms: "Near" is not a valid label selector operator', 3,
                     id="affinity-to-no-selector"),
        pytest.param(pod("bad", cpu="1e30"), "2 Insufficient cpu", 3, id="more-than-there-is"),
    ],
)  # fmt: skip
def test_what_cannot_be_placed_says_why_and_waits_its_time(bad, why, most, caplog):
    """A fault of a plugin is tried again after the backoff, at last every ten seconds."""
    caplog.set_level("DEBUG", "podium.live.failure")

    async def scene(cluster):
        await cluster.create(node("n1"), node("n2"))
        smuggle(cluster, bad)
        await cluster.create(pod("good"))
        await cluster.wait(120)
        assert why in cluster.why_pending("bad")
        assert cluster.node_of("good")
        attempts = [one for one in caplog.messages if "default/bad" in one and "attempt=" in one]
        assert 1 <= len(attempts) <= most

    play(scene)


def test_preemption_turns_to_other_pods():
    async def scene(cluster):
        vips = {"kind": "PriorityClass", "metadata": {"name": "vip"}, "value": 1000}
        vips["apiVersion"] = "scheduling.k8s.io/v1"
        await cluster.create(node("n1"), node("n2"), vips)
        for name, start in (("n1", "yesterday"), ("n2", "2026-01-01T00:00:00Z")):
            victim = pod(f"on-{name}", cpu="4", nodeName=name, terminationGracePeriodSeconds=0)
            smuggle(cluster, {**victim, "status": {"startTime": start}})
        await cluster.create(pod("urgent", cpu="4", priorityClassName="vip"))
        await cluster.wait(20)
        assert cluster.node_of("urgent") == "n2"

    play(scene)


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({"affinity": preferring(10**30, {})}, id="weight-of-30-digits"),
        pytest.param({"affinity": preferring(2**62, {})}, id="weight-of-62-bits"),
        pytest.param({"affinity": preferring(1, NO_SELECTOR)}, id="no-selector"),
        pytest.param({"affinity": {"podAntiAffinity": {REQUIRED: [term(NO_SELECTOR)]}}},
                     id="anti-affinity-to-no-selector"),
        pytest.param({"priority": 2**62}, id="priority-of-62-bits"),
        pytest.param({"cpu": "-1"}, id="negative-request"),
        pytest.param({"cpu": "1e30"}, id="more-than-there-is"),
        pytest.param({"cpu": "1K"}, id="no-quantity"),
    ],
)  # fmt: skip
def test_a_bad_pod_on_a_node_harms_no_other(spec):
    async def scene(cluster):
        await cluster.create(node("n1"), node("n2"))
        smuggle(cluster, pod("bad", nodeName="n1", **spec))
        wish = preferring(50, {"matchLabels": {"app": "web"}})
        for name in ("first", "second"):
            labels = {"app": "web"}
            await cluster.create(
                pod(name, labels, affinity=wish, topologySpreadConstraints=spread(2))
            )
        await cluster.settle()
        assert cluster.node_of("first") is not None
        assert cluster.node_of("second") is not None

    play(scene)
