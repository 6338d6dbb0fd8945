"""check_invariants notices when one of the columns tells another story."""

import numpy as np
import pytest

from podium.api.selectors import from_map
from podium.state.cluster import ClusterState
from podium.state.pod_groups import Clause, PodQuery
from podium.testing.builders import node, pod

WEB = PodQuery((Clause(None, from_map({"app": "web"})),))
AFFINITY = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
    {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "web"}}}]}}  # fmt: skip


def filled():
    state = ClusterState()
    state.set_node(node("a", taints="t:NoSchedule", labels="zone=x"))
    state.set_node(node("b"))
    state.add_pod(pod("x", node="a", cpu="1", labels="app=web", affinity=AFFINITY))
    state.add_pod(pod("y", node="a"))
    state.add_pod(pod("ghost", node="gone"))
    state.counts(WEB)
    return state


def requested(state):
    state.table.resources.requested[0, 0] += 1


def non_zero(state):
    state.table.resources.non_zero[0, 0] += 1


def allocatable(state):
    state.table.resources.allocatable[1, 1] -= 1


def requested_below(state):
    state.table.resources.requested_below(5)[0, 1] += 1


def unschedulable(state):
    state.table.unschedulable[0] = True


def labels(state):
    state.table.label_column("zone")._numbers[1] = 0


def ghost_offers(state):
    state.table.resources.allocatable[0, state.table.row_of("gone")] = 7


def stray_pod(state):
    state.table.pods[1]["uid-stray"] = state.pods["uid-x"]


def lost_pod(state):
    del state.table.pods[0]["uid-y"]


def unknown_pod(state):
    del state.pods["uid-y"]


def wrong_row(state):
    state.pods["uid-x"].row = 1


def dead_row(state):
    state.table.live[1] = False
    state.table._structure_changed()


def taints(state):
    state.table.taints.numbers[1] = state.table.taints.numbers[0]


def kept_counts(state):
    state.groups._views[WEB].counts[1] += 1


def group(state):
    state.pods["uid-x"].group.rows.add(1, 1)


def term(state):
    state.affinity.remove(state.pods["uid-x"], 0)


def test_a_sound_cluster_passes():
    filled().check_invariants()


@pytest.mark.parametrize(
    "break_it",
    [requested, non_zero, requested_below, allocatable, ghost_offers, unschedulable, labels, taints,
     stray_pod, lost_pod, unknown_pod, wrong_row, dead_row, kept_counts, group, term],
    ids=lambda function: function.__name__,
)  # fmt: skip
def test_what_is_broken_is_noticed(break_it):
    state = filled()
    break_it(state)

    with pytest.raises(AssertionError):
        state.check_invariants()


def test_the_order_of_nodes_is_checked():
    state = filled()
    state.table.order.remove("b")

    with pytest.raises(AssertionError):
        state.check_invariants()


def test_checking_changes_nothing():
    state = filled()
    before = [column.copy() for column in (state.table.resources.requested, state.counts(WEB))]
    state.check_invariants()
    after = (state.table.resources.requested, state.counts(WEB))

    assert all(np.array_equal(one, two) for one, two in zip(before, after, strict=True))
