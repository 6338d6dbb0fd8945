"""Slots keep the order of the pods, also when gaps are closed."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from podium.state.cluster import ClusterState
from podium.testing.builders import node, pod
from tests.support.search import examples


def cluster():
    state = ClusterState()
    for name in "ab":
        state.set_node(node(name))
    return state


def names_below(state, priority, *rows):
    found = state.view.pods_below(priority, np.array(rows, np.intp))
    return [info.pod.name for info in found.infos()]


def test_pods_are_in_the_order_in_which_they_came():
    state = cluster()
    for number in range(40):
        state.add_pod(pod(f"p{number}", node="ab"[number % 2], priority=number % 3))

    expected = [f"p{number}" for number in range(0, 40, 2) if number % 3 < 2]
    assert names_below(state, 2, 0) == expected


def test_gaps_are_closed_when_the_columns_are_full():
    state = cluster()
    pods = [pod(f"p{number}", node="a", cpu="1", priority=1) for number in range(64)]
    for each in pods:
        state.add_pod(each)
    for each in pods[:60]:
        state.remove_pod(each)
    for number in range(64, 70):
        state.add_pod(pod(f"p{number}", node="b", cpu="2"))

    state.check_invariants()
    assert len(state.table.resources.placed.infos) < 64
    assert names_below(state, 2, 0, 1) == [f"p{number}" for number in range(60, 70)]
    assert names_below(state, 1, 0, 1) == [f"p{number}" for number in range(64, 70)]


def test_requests_and_starts_as_columns():
    state = cluster()
    start = "1970-01-01T00:00:02Z"
    state.add_pod(pod("first", node="a", cpu="1", status={"start_time": start}))
    state.add_pod(pod("second", node="b", requests={"example.com/gpu": 3}))
    found = state.view.pods_below(1, np.array([0, 1]))
    resources = [state.table.resource_index(name) for name in ("cpu", "pods", "example.com/gpu")]

    assert found.requested(resources).tolist() == [[1000, 0], [1, 1], [0, 3]]
    assert found.starts(now=7).tolist() == [2 * 10**9, 7]
    assert found.take(np.array([1, 0])).rows.tolist() == [1, 0]


def test_a_pod_that_requests_pods_counts_as_more():
    state = cluster()
    state.add_pod(pod("greedy", node="a", requests={"pods": 2}))

    state.check_invariants()
    assert state.view.counts_below(1)[:2].tolist() == [3, 0]


@given(st.lists(st.tuples(st.sampled_from(["add", "remove", "put back"]), st.integers(0, 9))))
@examples(200)
def test_pods_that_are_put_back_keep_their_turns(steps):
    """The model is the list of all pods that ever came, in the order in which they did."""
    state, came, away = cluster(), [], []
    for number in range(60):  # so that gaps are closed now and then
        came.append(state.add_pod(pod(f"p{number}", node="a", priority=number % 3)))
    for step, which in steps:
        if step == "add":
            came.append(state.add_pod(pod(f"p{len(came)}", node="ab"[which % 2], cpu=which)))
        elif step == "remove":
            away.extend(_take(state, [info for info in came if info.row >= 0], which))
        elif away:
            _put_back(state, came, away.pop(which % len(away)))
    state.check_invariants()

    there = [info.pod.name for info in came if info.row >= 0]
    by_node = [names_below(state, 9, row) for row in (0, 1)]
    for row, names in enumerate(by_node):
        assert names == [n for n in there if n in names]
        assert names == [info.pod.name for info in state.table.pods[row].values()]
    assert sorted(by_node[0] + by_node[1]) == sorted(there)


def _take(state, infos, which):
    taken = infos[which :: which + 1]
    turns = [(info, info.turn) for info in taken]
    for info in taken:
        state.remove_pod(info.pod)
    return turns


def _put_back(state, came, left):
    info, turn = left
    came[came.index(info)] = state.add_pod(info.pod, turn)
