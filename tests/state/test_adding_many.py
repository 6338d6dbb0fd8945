"""Many pods at once enter the state as they do one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.errors import CacheError
from podium.state.cluster import ClusterState
from podium.state.grouped_cluster import GroupedClusterState
from podium.testing.builders import node, pod
from tests.support import snapshots
from tests.support.clusters import pods as pod_objects

NODES = ("a", "b", "not-there-yet")


@st.composite
def placed_pods(draw):
    size = draw(st.integers(0, 12))
    return [draw(pod_objects(f"p{n}", on=draw(st.sampled_from(NODES)))) for n in range(size)]


def state_with(kind, pods):
    state = kind()
    for name in NODES[:2]:
        state.set_node(node(name))
    for each in pods:
        state.add_pod(each)
    return state


def of_state(state):
    """What is there, without how many entries of the journal say so."""
    placed = state.table.resources.placed
    known = snapshots.of_cluster(state)
    del known["journal"]
    turns = [(info.uid, info.row, info.turn) for info in placed.infos]
    below = state.view.pods_below(10**9, np.arange(state.table.size))
    starts = below.starts(now=7).tolist()
    return known, turns, placed.amounts[:, : len(turns)].tolist(), starts


@pytest.mark.parametrize("kind", [ClusterState, GroupedClusterState])
@given(there=placed_pods(), data=st.data())
def test_both_ways_agree(kind, there, data):
    first = data.draw(st.integers(0, len(there)))
    one_by_one, at_once = state_with(kind, there[:first]), state_with(kind, there[:first])
    for state in (one_by_one, at_once):
        state.table.resources.requested_below(5)
    for each in there[first:]:
        one_by_one.add_pod(each)

    at_once.add_pods(iter(there[first:]))

    at_once.check_invariants()
    assert of_state(at_once) == of_state(one_by_one)
    assert at_once.table.resources.requested_below(5).tolist() == (
        one_by_one.table.resources.requested_below(5).tolist()
    )


def test_sums_wrap_around_as_they_do_one_by_one():
    huge = [pod(f"p{n}", node="a", requests={"example.com/gpu": 2**63 - 1}) for n in range(3)]
    at_once = state_with(ClusterState, [])
    at_once.add_pods(huge)

    assert of_state(at_once) == of_state(state_with(ClusterState, huge))


def test_readers_of_the_journal_see_every_row():
    state = state_with(ClusterState, [])
    mark = state.journal.end
    state.add_pods([pod("p", node="a"), pod("q", node="b", host_ports=(80,))])

    one_by_one = state_with(
        ClusterState, [pod("p", node="a"), pod("q", node="b", host_ports=(80,))]
    )
    assert state.journal.changes_since(mark).rows == one_by_one.journal.changes_since(mark).rows


@pytest.mark.parametrize(
    ("pods", "why"),
    [
        pytest.param([pod("new", node="a"), pod("old", node="a")], "already", id="known"),
        pytest.param([pod("new", node="a"), pod("new", node="b")], "already", id="twice"),
        pytest.param([pod("new", node="a"), pod("other")], "has no node", id="no-node"),
        pytest.param([pod("new", node="a"), pod("other", node="a", uid="")], "UID", id="no-uid"),
    ],
)
def test_if_one_is_refused_nothing_changes(pods, why):
    state = state_with(ClusterState, [pod("old", node="a")])
    before = of_state(state)

    with pytest.raises(CacheError, match=why):
        state.add_pods(pods)

    assert of_state(state) == before
