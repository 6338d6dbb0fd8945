"""What simulations are asked: how many pods fit, what a drain does, how full a cluster is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from podium.api.objects import OwnerReference, decode
from podium.api.workloads import PodDisruptionBudget
from podium.errors import SimulationError
from podium.simulation import Limit, Move, NodeCount, Placement, Simulation
from podium.simulation.fitting import fit_by_needs, fit_by_trial
from podium.testing.builders import node, pod
from tests.support.search import examples


def owned(made, kind="ReplicaSet"):
    owner = OwnerReference("apps/v1", kind, "web", "uid-of-web", True)
    return replace(made, metadata=replace(made.metadata, owner_references=(owner,)))


def budget(least, **labels):
    spec = {"minAvailable": least, "selector": {"matchLabels": labels}}
    meta = {"name": "budget", "namespace": "default", "uid": "uid-budget"}
    return decode(PodDisruptionBudget, {"metadata": meta, "spec": spec})


# --- fit -----------------------------------------------------------------------------------------


def test_fit_counts_what_is_free_on_each_node():
    simulated = Simulation.from_objects(
        [
            node("large", cpu="8", memory="8Gi", pods="3"),
            node("small", cpu="2", memory="8Gi"),
            node("tainted", cpu="8", memory="8Gi", taints="gpu:NoSchedule"),
            pod("there", node="small", cpu="1"),
        ]
    )

    found = simulated.fit(pod("web", cpu="500m"))

    assert found.count == 5
    assert found.nodes == (NodeCount("large", 3), NodeCount("small", 2))
    assert found.excluded == (Limit("node(s) had untolerated taint(s)", 1),)
    assert {each.reason for each in found.limits} == {
        "Insufficient cpu",
        "Too many pods",
        "node(s) had untolerated taint(s)",
    }
    assert not simulated.pending


def test_fit_of_pods_that_keep_apart():
    hosts = [node(f"n{number}", labels=f"host=n{number}") for number in range(3)]
    term = {"topologyKey": "host", "labelSelector": {"matchLabels": {"app": "web"}}}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    manifest = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "image": "web"}], "affinity": apart},
    }

    found = Simulation.from_objects(hosts).fit(manifest)

    assert found.count == 3
    assert found.runs_out == "node(s) didn't match pod anti-affinity rules"


def test_fit_evicts_nobody():
    simulated = Simulation.from_objects([node("n1", cpu="2"), pod("low", node="n1", cpu="2")])

    found = simulated.fit(pod("high", cpu="1", priority=1000))

    assert not found.fits
    assert found.runs_out == "Insufficient cpu"


def test_fit_of_a_pod_that_may_not_be_scheduled():
    simulated = Simulation.from_objects([node("n1")])

    gated = simulated.fit(pod("gated", scheduling_gates=[{"name": "later"}]))

    assert gated.count == 0
    with pytest.raises(SimulationError, match='no profile is named "default-schedular"'):
        simulated.fit(pod("other", scheduler_name="default-schedular"))
    with pytest.raises(SimulationError, match="fit takes a Pod"):
        simulated.fit(node("n2"))


def test_a_trial_ends_at_the_given_number():
    simulated = Simulation.from_objects([node("n1", cpu="100", pods="100")])

    found = fit_by_trial(simulated.fork(), pod("web", cpu="1"), 20)

    assert found.count == 20
    assert not found.is_complete


@examples(30)
@given(
    sizes=st.lists(st.tuples(st.integers(1, 8), st.integers(1, 6)), min_size=1, max_size=6),
    there=st.lists(st.tuples(st.integers(0, 5), st.integers(1, 3)), max_size=6),
    asked=st.integers(1, 4),
)
def test_what_is_worked_out_equals_what_is_scheduled(sizes, there, asked):
    nodes = [node(f"n{i}", cpu=str(cpu), pods=str(most)) for i, (cpu, most) in enumerate(sizes)]
    pods = [
        pod(f"p{i}", node=f"n{on % len(sizes)}", cpu=str(cpu)) for i, (on, cpu) in enumerate(there)
    ]
    simulated = Simulation.from_objects([*nodes, *pods])
    subject = pod("web", cpu=str(asked))

    assert fit_by_needs(simulated._enter(), subject) == fit_by_trial(
        simulated.fork(), subject, 1000
    )


# --- drain ---------------------------------------------------------------------------------------


def test_drained_pods_move_to_other_nodes():
    simulated = Simulation.from_objects(
        [
            node("old", cpu="4"),
            node("new", cpu="4"),
            owned(pod("web", node="old", cpu="1")),
            owned(pod("agent", node="old"), "DaemonSet"),
            pod("bare", node="old", cpu="1"),
        ]
    )

    result = simulated.drain("old")

    assert result.moves == (Move("default/web", "old", "new"),)
    assert result.lost == ("default/bare",)
    assert result.left == ("default/agent",)
    assert not result.fits
    assert simulated.nodes["old"].spec.unschedulable


def test_a_drained_pod_without_room_says_why():
    simulated = Simulation.from_objects(
        [node("old", cpu="4"), node("new", cpu="1"), owned(pod("web", node="old", cpu="2"))]
    )

    result = simulated.drain("old")

    assert result.moves == (Move("default/web", "old", ""),)
    (unplaced,) = result.unplaced
    assert "1 Insufficient cpu" in unplaced.reason


def test_a_drain_waits_for_replacements_as_budgets_ask():
    pods = [owned(pod(f"web-{i}", node="old", cpu="1", labels="app=web")) for i in range(3)]
    simulated = Simulation.from_objects(
        [node("old", cpu="4"), node("new", cpu="4"), budget(2, app="web"), *pods]
    )

    result = simulated.drain("old")

    assert len(result.moves) == 3
    assert result.rounds == 3
    assert result.fits


def test_a_budget_that_allows_nothing_blocks():
    objects = [
        node("old", cpu="4"),
        node("new", cpu="4"),
        budget(1, app="web"),
        owned(pod("web", node="old", cpu="1", labels="app=web")),
    ]

    result = Simulation.from_objects(objects).drain("old")

    (blocked,) = result.blocked
    assert blocked.pod == "default/web"
    assert blocked.budgets == ("default/budget",)
    assert not result.moves
    assert Simulation.from_objects(objects).drain("old", ignore_budgets=True).fits


def test_unknown_nodes_are_all_named_before_anything_happens():
    simulated = Simulation.from_objects([node("worker-1"), pod("web", node="worker-1")])

    with pytest.raises(SimulationError, match=r'(?s)"worker-l".*mean "worker-1".*"x"'):
        simulated.drain("worker-1", "worker-l", "x")

    assert not simulated.nodes["worker-1"].spec.unschedulable


def test_victims_of_preemption_are_replaced_by_their_controller():
    simulated = Simulation.from_objects(
        [
            node("full", cpu="2"),
            node("free", cpu="1"),
            owned(pod("low", node="full", cpu="1")),
            pod("high", cpu="2", priority=10),
        ]
    )

    result = simulated.schedule()

    assert [each.is_replaced for each in result.victims] == [True]
    assert set(result.placed) == {
        Placement("default/high", "full"),
        Placement("default/low", "free"),
    }
    assert result.fits


# --- nodes like others, figures ------------------------------------------------------------------


def test_a_cloned_node_has_the_pods_of_daemon_sets():
    simulated = Simulation.from_objects(
        [
            node("model", cpu="2", labels="kubernetes.io/hostname=model zone=a"),
            owned(pod("agent", node="model", cpu="1"), "DaemonSet"),
            pod("web", node="model", cpu="1"),
        ]
    )

    names = simulated.clone_node("model", 2)

    assert names == ["model-new-1", "model-new-2"]
    assert simulated.nodes["model-new-1"].labels["kubernetes.io/hostname"] == "model-new-1"
    assert simulated.fit(pod("more", cpu="1")).nodes == tuple(NodeCount(name, 1) for name in names)


def test_figures():
    zone = "topology.kubernetes.io/zone"
    simulated = Simulation.from_objects(
        [
            node("a", cpu="4", memory="4Gi", pods="10", labels=f"{zone}=a"),
            node("b", cpu="4", memory="4Gi", pods="10", labels=f"{zone}=b"),
            pod("large", node="a", cpu="3", memory="1Gi"),
            pod("small", node="b", cpu="1", memory="1Gi"),
            pod("none", cpu="9"),
        ]
    )

    figures = simulated.figures()

    cpu = figures.use_of("cpu")
    assert (figures.nodes, figures.pods, figures.pending) == (2, 2, 1)
    assert (cpu.allocatable, cpu.requested, cpu.share) == (8000, 4000, 0.5)
    # 1 of the 4 free CPUs is on "a", where the large pod does not fit: for one of two pods.
    assert cpu.fragmented == pytest.approx(0.125)
    assert [(each.domain, each.pods) for each in figures.domains] == [("a", 1), ("b", 1)]
    assert figures.imbalance("cpu") == 0.5
