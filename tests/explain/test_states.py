"""Pods in every state: gated, waiting, nominated, failed, placed; and nothing is left behind."""

import jsonschema
import pytest

import podium
from podium import Simulation, explain
from podium import framework as fwk
from podium.errors import SimulationError
from podium.explain import explain_node, explain_pod, in_order
from podium.framework.status import Nominate
from podium.state.pod_info import PodInfo
from podium.testing import (
    claim,
    device,
    device_class,
    node,
    pod,
    resource_claim,
    resource_slice,
    storage_class,
)
from tests.support.random_clusters import random_cluster
from tests.support.search import scaled

SCHEMA = jsonschema.Draft202012Validator(explain.schema())


def simulation(*objects, **options) -> Simulation:
    made = Simulation.from_objects([], **options)
    for each in objects:
        made.add(each)
    return made


def test_a_gated_pod_waits_for_its_gates():
    found = simulation(node("a"), pod("web", scheduling_gates=[{"name": "quota"}])).explain("web")

    assert found.state == "gated"
    assert found.sentence == "default/web is not tried: it has 1 scheduling gate (quota)."
    assert [each.name for each in found.waits_for] == ["quota"]
    assert [(fix.kind, fix.node) for fix in found.fixes] == [("gate", "a")]


def test_a_pod_that_is_not_in_the_simulation():
    given = simulation(node("a", cpu="1"))

    found = given.explain(pod("web", cpu="2"), nodes=["a", "b"])

    assert found.state == "pending"
    assert [each.fits for each in found.verdicts] == [False, False]
    assert found.verdicts[1].text == "there is no node b"
    assert "default/web" not in given.pods


def test_a_pod_that_another_scheduler_has_placed():
    subject = pod("web", node="a", scheduler_name="other")

    found = simulation(node("a"), subject).explain("web", nodes=["a"])

    assert (found.state, found.node) == ("placed", "a")
    told = "default/web is on a: it names the scheduler other, which this one is not."
    assert found.sentence == told
    assert found.notes == ("the profiles are: default-scheduler",)
    assert found.verdicts[0].text == "a was not looked at"


def test_a_pod_that_does_not_exist():
    with pytest.raises(SimulationError, match='did you mean "default/web"'):
        simulation(node("a"), pod("web")).explain("default/wep")


def test_a_node_that_does_not_exist():
    with pytest.raises(LookupError, match="no node a1"):
        explain_node(simulation(node("a")).core, "a1")


def test_a_pod_on_a_node_that_does_not_exist():
    found = simulation(node("node-1"), pod("web", node="node-2")).explain("web")

    assert found.state == "pending"
    assert 'did you mean "node-1"' in found.sentence
    assert [(fix.kind, fix.node) for fix in found.fixes] == [("node-name", "node-1")]


def test_a_plugin_that_raises_is_named():
    @podium.filter
    def broken(pod, node):
        raise RuntimeError("no such sensor")

    found = simulation(node("a"), plugins=[broken]).explain(pod("web"))

    assert found.state == "failed"
    assert "broken failed" in found.sentence
    assert "no such sensor" in found.sentence
    assert [each.code for each in found.causes] == ["PluginFailed"]


def test_a_plugin_that_raises_while_fixes_are_tried():
    @podium.filter
    def broken(pod, node):
        raise RuntimeError("no such sensor")

    found = simulation(node("a", cpu="1"), plugins=[broken]).explain(pod("web", cpu="2"))

    assert (found.state, found.fixes) == ("pending", ())
    (note,) = [each for each in found.notes if "broken" in each]
    assert note.startswith("broken failed while fixes were tried (")
    assert "no such sensor" in note


def test_pending_pods_are_counted_one_by_one():
    given = simulation(node("a", cpu="1"), pod("x", cpu="1"), pod("y", cpu="1"), pod("z", cpu="9"))
    found = explain_node(given.core, "a", given.pending.values())

    assert found.sentence.endswith("; 2 of 3 pending pods would fit, each on its own.")


def test_a_plugin_from_outside_refuses_in_its_own_words():
    @podium.filter
    def cold(pod, node):
        return fwk.Status.unschedulable("too warm")

    found = simulation(node("a"), plugins=[cold]).explain(pod("web"), nodes=["a"])

    assert [(each.code, each.plugin) for each in found.causes] == [("Refused", "cold")]
    assert "too warm" in found.sentence
    assert [v.plugin for v in found.verdicts[0].verdicts if not v.fits] == ["cold"]


def test_a_pod_that_permit_holds_back():
    @podium.permit
    def quorum(pod, node_name):
        return fwk.wait(60, "for the others")

    found = simulation(node("a"), plugins=[quorum]).explain(pod("web"))

    assert found.state == "waiting"
    assert found.node == "a"
    assert [each.name for each in found.waits_for] == ["quorum"]


def test_a_pod_that_permit_refuses():
    @podium.permit
    def closed(pod, node_name):
        return fwk.Status.unschedulable("closed on Sundays")

    given = simulation(node("a"), plugins=[closed])
    found = given.explain(pod("web"))

    assert found.state == "pending"
    assert "closed refuses a" in found.sentence
    assert "closed on Sundays" in found.sentence
    given.core.cluster.check_invariants()


def test_a_nominated_pod_waits_for_its_victims():
    condition = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
    leaving = pod(
        "old", node="a", cpu="3", deletion_timestamp="2024-01-01T00:00:00Z",
        status={"conditions": [condition]},
    )  # fmt: skip
    core = simulation(node("a", cpu="4")).core
    core.cluster.add_pod(leaving)

    found = explain_pod(
        core, pod("web", cpu="2", priority=10, status={"nominated_node_name": "a"}), fixes=False
    )

    assert found.state == "nominated"
    assert [each.name for each in found.waits_for] == ["default/old"]


def test_a_higher_priority_comes_before_a_nominated_pod():
    """Room for a nominated pod is not free, but only for pods that are not more important."""
    core = simulation(node("a", cpu="2"), pod("other", node="a", cpu="1", priority=900)).core
    core.nominator.add(PodInfo(pod("first", cpu="1", priority=50)), Nominate("a"))

    found = explain_pod(core, pod("web", cpu="1"))

    fixes = {fix.kind: fix for fix in found.fixes}
    assert "comes before default/first" in fixes["priority"].text
    assert (fixes["priority"].details, fixes["priority"].victims) == ({"priority": 51}, ())


def test_a_pod_that_preempts_needs_no_fix():
    found = simulation(node("a", cpu="2"), pod("old", node="a", cpu="2")).explain(
        pod("web", cpu="1", priority=10, priority_class_name="system-cluster-critical")
    )

    assert found.preemption is not None
    assert found.preemption.helps
    assert found.fixes == ()
    assert "Preemption makes room" in found.sentence


def test_misspelled_names_are_pointed_out():
    nodes = node("a", labels="disk=ssd", allocatable={"nvidia.com/gpu": "1"})
    given = simulation(nodes, storage_class("standard"), claim("data"))

    found = given.explain(pod("web", node_selector="dsk=ssd", requests={"nvidia.com/gpus": "1"}))
    missing = given.explain(pod("db", claims="date"))

    assert 'no node has the label dsk; did you mean "disk"?' in found.notes
    assert 'no node offers nvidia.com/gpus; did you mean "nvidia.com/gpu"?' in found.notes
    assert 'there is no claim date; did you mean "data"?' in missing.notes


def test_a_fix_leaves_room_for_pods_that_come_first():
    """Both pods wait for the same room, so only the first one is told to delete a pod."""
    given = simulation(node("a", cpu="1"), pod("busy", node="a", cpu="1"))
    given.add(pod("first", cpu="1"))
    given.add(pod("second", cpu="1"))

    kinds = {name: {fix.kind for fix in given.explain(name).fixes} for name in ("first", "second")}

    assert "pod-gone" in kinds["first"]
    assert "pod-gone" not in kinds["second"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(scaled(16)))
def test_explaining_leaves_nothing_behind(seed):
    """Explain all pods and nodes of a random cluster: later decisions are as without that."""
    given = random_cluster(seed)
    explained, left_alone = (simulation(*given.standing, *given.pending) for _ in range(2))
    for each in (explained, left_alone):
        each.schedule(30)
    for each in list(explained.pods.values()):
        found = explain_pod(explained.core, each, nodes=["node-0"], pending=in_order(explained))
        SCHEMA.validate(found.to_dict())
        assert found.lines()
    for name in explained.nodes:
        found = explain_node(explained.core, name, in_order(explained))
        SCHEMA.validate(found.to_dict())
    explained.core.cluster.check_invariants()
    explained.core.services.devices.check_invariants()
    for each in (explained, left_alone):
        each.schedule(400)

    assert placements(explained) == placements(left_alone)


def placements(given: Simulation) -> dict[str, str]:
    return {key: each.node_name for key, each in given.pods.items()}


def test_only_pods_with_matching_devices_are_named():
    def using(name, chosen):
        claims = [{"name": "gpu", "resourceClaimName": name}]
        taken = resource_claim(name, allocated=f"gpu.example.com/a/{chosen}", reserved_for=name)
        return taken, pod(name, node="a", resource_claims=claims)

    models = {f"gpu-{number}": model for number, model in enumerate(("small", "small", "large"))}
    devices = [device(name, attributes={"model": model}) for name, model in models.items()]
    large = 'device.attributes["gpu.example.com"].model == "large"'
    given = simulation(
        node("a"),
        device_class("gpu"),
        resource_slice("s", node="a", devices=devices),
        *using("first", "gpu-0"),
        *using("second", "gpu-2"),
        resource_claim("wanted", selectors=[large]),
    )
    subject = pod("web", resource_claims=[{"name": "gpu", "resourceClaimName": "wanted"}])

    (miss,) = given.explain(subject).near_misses

    holders = [each.pod for shortfall in miss.shortfalls for each in shortfall.holders]
    assert holders == ["default/second"]
