"""Rows: who has one, how long, and what a row without its node is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.errors import StaleRow
from podium.state.cluster import ClusterState
from podium.state.node_table import stable_hash
from podium.testing.builders import node, pod


@pytest.fixture
def state():
    cluster = ClusterState()
    for name in "abc":
        cluster.set_node(node(name))
    return cluster


def names(state):
    state.check_invariants()
    return state.rows().names


def test_a_node_keeps_its_row(state):
    row = state.table.live_row("b")
    state.set_node(node("b", labels="v=2", cpu="1"))
    state.remove_node("a")
    state.set_node(node("d"))

    assert state.table.live_row("b") == row
    assert names(state) == ["b", "c", "d"]


def test_a_pod_before_its_node_makes_a_ghost(state):
    state.add_pod(pod("early", node="late", cpu="1"))
    row = state.table.row_of("late")

    assert row is not None
    assert state.table.live_row("late") is None
    assert state.node("late") is None
    assert names(state) == ["a", "b", "c"]

    state.set_node(node("late", cpu="4"))
    assert state.table.live_row("late") == row
    assert state.node("late").free("cpu") == 3000
    assert names(state) == ["a", "b", "c", "late"]


def test_a_ghost_goes_with_its_last_pod(state):
    for name in ("x", "y"):
        state.add_pod(pod(name, node="late"))
    state.remove_pod(pod("x"))
    assert state.table.row_of("late") is not None

    state.remove_pod(pod("y"))
    assert state.table.row_of("late") is None
    assert names(state) == ["a", "b", "c"]


def test_a_node_that_leaves_its_pods_behind_is_a_ghost(state):
    state.add_pod(pod("x", node="b", cpu="1"))
    state.remove_node("b")

    assert names(state) == ["a", "c"]
    assert "uid-x" in state.pods
    assert state.rows().requested("cpu").sum() == 0

    state.set_node(node("b", cpu="2"))
    assert state.node("b").free("cpu") == 1000
    assert names(state) == ["a", "b", "c"]


def test_a_node_comes_back_as_it_is_now(state):
    state.set_node(node("b", labels="zone=x", taints="t:NoSchedule", unschedulable=True))
    assert state.rows().labels["zone"].present.tolist() == [False, True, False]
    state.remove_node("b")
    state.set_node(node("b"))

    back = state.node("b")
    nodes = state.rows()
    assert (back.labels, back.taints) == ({}, ())
    assert not nodes.unschedulable.any()
    assert not nodes.labels["zone"].present.any()
    assert set(nodes.taints) == {()}


def test_a_reference_holds_while_the_node_does(state):
    ref = state.table.ref(state.table.live_row("b"))
    state.set_node(node("b", labels="v=2"))

    assert state.table.resolve(ref) == state.table.live_row("b")
    assert ref.name == "b"


@pytest.mark.parametrize("with_pods", [True, False], ids=["ghost", "empty"])
@pytest.mark.parametrize("comes_back", [True, False], ids=["back", "gone"])
def test_a_reference_to_a_node_that_is_gone_raises(state, with_pods, comes_back):
    if with_pods:
        state.add_pod(pod("x", node="b"))
    ref = state.table.ref(state.table.live_row("b"))
    state.remove_node("b")
    if comes_back:
        state.set_node(node("b"))

    with pytest.raises(StaleRow, match=r"^node b is gone$"):
        state.table.resolve(ref)


def test_rows_are_used_again_in_time(state):
    """Nodes that come and go must not make the table grow without end."""
    for number in range(5000):
        state.set_node(node(f"n{number}"))
        if number >= 50:
            state.remove_node(f"n{number - 50}")

    assert len(names(state)) == 53
    assert state.table.size < 1000


def test_rows_that_wait_to_be_used_again_are_not_lost(state):
    """Also when many leave at once before those are taken."""
    for _ in range(20):
        for number in range(300):
            state.set_node(node(f"n{number}"))
        for number in range(300):
            state.remove_node(f"n{number}")

    assert names(state) == ["a", "b", "c"]
    assert state.table.size < 800


def test_a_row_that_is_used_again_has_nothing_of_its_past():
    state = ClusterState()
    rich = {"labels": "zone=x", "taints": "t:NoSchedule", "allocatable": {"example.com/gpu": 4}}
    seen = set()
    for number in range(1000):
        state.set_node(node(f"n{number}", **rich))
        state.rows().labels["zone"]
        state.rows().free("example.com/gpu")
        seen.add(state.table.live_row(f"n{number}"))
        state.remove_node(f"n{number}")
    assert len(seen) < 1000
    for number in range(200):
        state.set_node(node(f"p{number}"))
    nodes = state.rows()

    assert not nodes.labels["zone"].present.any()
    assert not nodes.free("example.com/gpu").any()
    assert set(nodes.taints) == {()}
    state.check_invariants()


def test_many_nodes_at_once():
    state = ClusterState()
    wanted = [f"n{number}" for number in range(1000)]
    for name in wanted:
        state.set_node(node(name, cpu="3"))

    assert names(state) == wanted
    assert state.rows().allocatable("cpu").tolist() == [3000] * 1000


def test_structure_moves_when_nodes_come_or_go_and_only_then(state):
    before = state.table.structure
    state.set_node(node("a", labels="v=2", cpu="1"))
    state.add_pod(pod("x", node="a"))
    state.add_pod(pod("early", node="late"))
    assert state.table.structure == before

    state.remove_node("a")
    assert state.table.structure > before
    before = state.table.structure
    state.set_node(node("a"))
    assert state.table.structure > before


def test_rows_in_upstreams_order(state):
    zone = "topology.kubernetes.io/zone"
    for name, where in (("d", "x"), ("e", "y"), ("f", "x")):
        state.set_node(node(name, labels={zone: where}))
    state.remove_node("b")

    ordered = [state.table.names[row] for row in state.table.rows_in_order()]
    assert ordered == ["a", "d", "e", "c", "f"]


@given(st.text())
def test_hashes_of_any_name_fit_a_column(text):
    assert 0 <= stable_hash(text) < 2**64


def test_hashes_are_the_same_in_every_process():
    assert stable_hash("node-1") == stable_hash("node-1") != stable_hash("node-2")
    assert stable_hash("\ud800") != stable_hash("\ud801")  # not even text, but a name all the same
