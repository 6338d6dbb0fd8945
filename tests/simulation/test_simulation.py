"""Simulations: what is placed, and that forks, commits and rollbacks are independent."""

from __future__ import annotations

import pytest

import podium
from podium.errors import InvalidObject, SimulationError
from podium.simulation import Placement, Simulation, Victim
from podium.testing.builders import node, pod

MANIFEST = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web"},
    "spec": {"containers": [{"name": "c", "image": "web:1"}]},
}


def simulation(*objects, **options):
    found = Simulation.from_objects(objects, **options)
    found.core.cluster.check_invariants()
    return found


def test_it_is_a_public_name_of_podium():
    assert podium.Simulation is Simulation


def test_pending_pods_are_placed():
    simulated = simulation(node("n1", cpu="2"), pod("web", cpu="1"))

    result = simulated.schedule()

    assert result.placed == (Placement("default/web", "n1"),)
    assert result.fits
    assert simulated.pods["default/web"].node_name == "n1"
    assert not simulated.pending


def test_a_pod_without_a_node_says_why():
    simulated = simulation(node("n1", cpu="1"), pod("web", cpu="2"))

    result = simulated.schedule()

    (unplaced,) = result.unplaced
    assert "1 Insufficient cpu" in unplaced.reason
    assert unplaced.plugins == ("NodeResourcesFit",)
    assert not result.fits


def test_a_change_wakes_pods_that_it_may_help():
    simulated = simulation(node("n1", cpu="1"), pod("web", cpu="2"))
    simulated.schedule()

    simulated.add(node("n2", cpu="4"))

    assert simulated.schedule().placed == (Placement("default/web", "n2"),)


def test_preemption_evicts_and_takes_the_room():
    simulated = simulation(
        node("n1", cpu="2"), pod("low", node="n1", cpu="2"), pod("high", cpu="2", priority=10)
    )

    result = simulated.schedule()

    assert result.victims == (Victim("default/low", "n1", "default/high"),)
    assert result.placed == (Placement("default/high", "n1"),)
    assert "default/low" not in simulated.pods


def test_a_manifest_is_admitted_as_by_an_api_server():
    critical = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "high"},
        "value": 1000,
    }
    simulated = simulation(node("n1"), critical)

    (added,) = simulated.add(
        {**MANIFEST, "spec": {**MANIFEST["spec"], "priorityClassName": "high"}}
    )

    assert added.priority == 1000
    assert added.namespace == "default"
    assert {each.key for each in added.spec.tolerations} == {
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
    }


def test_an_object_that_an_api_server_refuses_changes_nothing():
    simulated = simulation(node("n1"))

    with pytest.raises(InvalidObject, match="PriorityClass with name none was found"):
        simulated.add(
            pod("fine"), {**MANIFEST, "spec": {**MANIFEST["spec"], "priorityClassName": "none"}}
        )

    assert not simulated.pods


def test_another_pod_of_the_same_name_is_refused():
    simulated = simulation(node("n1"), pod("web", node="n1"))

    with pytest.raises(SimulationError, match="Pod default/web is there already"):
        simulated.add(MANIFEST)

    assert simulated.pods["default/web"].node_name == "n1"


def test_replicas_are_numbered():
    simulated = simulation(node("n1", cpu="2"))

    simulated.add(MANIFEST, replicas=3)

    assert list(simulated.pods) == ["default/web-0", "default/web-1", "default/web-2"]
    assert len({each.uid for each in simulated.pods.values()}) == 3


def test_a_fork_leaves_the_original_alone():
    simulated = simulation(node("n1", cpu="2"), pod("web", cpu="1"))
    fork = simulated.fork()

    fork.schedule()
    fork.add(node("n2"))

    assert set(fork.nodes) == {"n1", "n2"}
    assert set(simulated.nodes) == {"n1"}
    assert set(simulated.pending) == {"default/web"}
    assert fork.pods["default/web"].node_name == "n1"
    simulated.core.cluster.check_invariants()


def test_rollback_returns_to_the_last_commit():
    simulated = simulation(node("n1", cpu="4"))
    simulated.add(pod("kept", cpu="1"))
    simulated.schedule()
    simulated.commit()

    simulated.remove("n1", "kept")
    simulated.rollback()

    assert set(simulated.pods) == {"default/kept"}
    assert simulated.pods["default/kept"].node_name == "n1"


def test_equal_seeds_place_equally_in_every_fork():
    simulated = simulation(*(node(f"n{i}", cpu="8") for i in range(9)), seed=3)
    placements = []
    for _ in range(2):
        fork = simulated.fork()
        fork.add(MANIFEST, replicas=5)
        placements.append(fork.schedule().placed)

    assert placements[0] == placements[1]


def test_an_unknown_object_is_named_with_a_similar_one():
    simulated = simulation(node("worker-1"), pod("web"))

    with pytest.raises(
        SimulationError, match=r'no Pod or Node "wroker-1".*did you mean "worker-1"'
    ):
        simulated.remove("wroker-1")
    with pytest.raises(KeyError, match=r'no Pod "default/wbe".*did you mean "default/web"'):
        simulated.pods["default/wbe"]
