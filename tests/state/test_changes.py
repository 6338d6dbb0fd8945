"""What a reader of the journal is told."""

import pytest

from podium.api.objects import Namespace, ObjectMeta
from podium.state.aspects import Aspect, Reader
from podium.state.cluster import ClusterState
from podium.testing.builders import node, pod

OF_A_POD = Aspect.RESOURCES | Aspect.PODS


@pytest.fixture
def state():
    cluster = ClusterState()
    for name in "ab":
        cluster.set_node(node(name))
    return cluster


def caught_up(state):
    reader = Reader(state)
    reader.catch_up()
    return reader


def test_a_new_reader_starts_from_scratch(state):
    assert Reader(state).catch_up().fresh


def test_nothing_has_changed(state):
    changes = caught_up(state).catch_up()

    assert (changes.fresh, changes.aspects, changes.rows) == (False, 0, {})


def test_changes_are_summed_by_row(state):
    reader = caught_up(state)
    state.set_node(node("a", labels="v=1"))
    state.add_pod(pod("x", node="a"))
    state.add_pod(pod("y", node="b"))
    changes = reader.catch_up()

    assert changes.rows == {0: Aspect.LABELS | OF_A_POD, 1: OF_A_POD}
    assert changes.aspects == Aspect.LABELS | OF_A_POD


def test_changes_of_no_row(state):
    reader = caught_up(state)
    state.set_object(Namespace(metadata=ObjectMeta(name="team")))
    changes = reader.catch_up()

    assert (changes.aspects, changes.rows) == (Aspect.NAMESPACES, {})


def test_each_change_is_told_once(state):
    reader = caught_up(state)
    state.add_pod(pod("x", node="a"))
    reader.catch_up()

    assert reader.catch_up().rows == {}


def test_readers_do_not_disturb_one_another(state):
    first, second = caught_up(state), caught_up(state)
    state.add_pod(pod("x", node="a"))
    first.catch_up()

    assert second.catch_up().rows == {0: OF_A_POD}


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda s: s.set_node(node("c")), id="node-came"),
        pytest.param(lambda s: s.remove_node("b"), id="node-went"),
        pytest.param(lambda s: [s.add_pod(pod("x", node="a")) and s.remove_pod(pod("x"))
                                for _ in range(10_000)], id="too-much-to-remember"),
    ],
)  # fmt: skip
def test_who_cannot_build_on_what_it_knows_starts_over(state, change):
    reader = caught_up(state)
    change(state)

    assert reader.catch_up().fresh
    assert not reader.catch_up().fresh


def test_a_ghost_is_a_row_like_others(state):
    reader = caught_up(state)
    state.add_pod(pod("x", node="late"))
    changes = reader.catch_up()

    assert not changes.fresh
    assert changes.rows == {state.table.row_of("late"): OF_A_POD}
