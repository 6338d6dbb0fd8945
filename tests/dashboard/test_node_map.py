"""The map of nodes: shares, marks, and changes that lead to the same map."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.dashboard import sampling
from podium.dashboard.node_map import MapTracker, label_column, share
from podium.devices import DeviceRules
from podium.framework.cluster_devices import ClusterDevices
from podium.state.cluster import ClusterState
from podium.testing.builders import node, pod
from tests.support.search import examples


class Watched:
    """A cluster whose map is looked at."""

    def __init__(self):
        self.cluster = ClusterState()
        self._devices = ClusterDevices(self.cluster, DeviceRules())

    def columns(self):
        return sampling.columns(self.cluster, self._devices)


@pytest.mark.parametrize(
    ("requested", "allocatable", "expected"),
    [(0, 10, 0), (5, 10, 500), (10, 10, 1000), (15, 10, 1500), (1 << 40, 1, 9999), (3, 0, -1)],
)
def test_share(requested, allocatable, expected):
    found = share(np.array([requested], np.int64), np.array([allocatable], np.int64))

    assert found.tolist() == [expected]


def test_a_map_has_measures_pods_and_marks():
    watched, tracker = Watched(), MapTracker()
    watched.cluster.set_node(node("a", cpu="4", labels="topology.kubernetes.io/zone=east"))
    watched.cluster.set_node(node("b", cpu="2", taints="gpu:NoSchedule", unschedulable=True))
    watched.cluster.set_node(node("c", cpu="2", taints="spot:PreferNoSchedule"))
    watched.cluster.add_pod(pod("p", cpu="1", node_name="a"))
    tracker.look(watched.columns())

    found = tracker.whole()

    assert found.names == ("a", "b", "c")
    assert found.zones == ("east", "", "")
    assert found.columns["cpu"] == [250, 0, 0]
    assert found.pods == [1, 0, 0]
    assert found.flags == [0, 3, 0]


def test_extended_resources_are_measures():
    watched, tracker = Watched(), MapTracker()
    watched.cluster.set_node(node("a", allocatable={"example.com/gpu": "4"}))
    watched.cluster.set_node(node("b"))
    watched.cluster.table.resource_index("example.com/gpu")
    tracker.look(watched.columns())

    assert tracker.whole().columns["example.com/gpu"] == [0, -1]
    assert list(tracker.whole().columns)[:3] == ["cpu", "memory", "pods"]


def test_nothing_changes_when_nothing_happens():
    watched, tracker = Watched(), MapTracker()
    watched.cluster.set_node(node("a"))
    assert tracker.look(watched.columns()) is None
    version = tracker.version
    assert tracker.look(watched.columns()) is None
    assert tracker.version == version


@pytest.mark.parametrize("change", ["joins", "leaves", "moves"])
def test_other_nodes_are_another_version(change):
    watched, tracker = Watched(), MapTracker()
    watched.cluster.set_node(node("a"))
    watched.cluster.set_node(node("b"))
    tracker.look(watched.columns())
    version = tracker.version

    if change == "joins":
        watched.cluster.set_node(node("c"))
    elif change == "leaves":
        watched.cluster.remove_node("b")
    else:
        watched.cluster.set_node(node("b", labels="topology.kubernetes.io/zone=west"))
    assert tracker.look(watched.columns()) is None
    assert tracker.version != version


NAMES = ("a", "b", "c", "d")
steps = st.lists(
    st.tuples(st.sampled_from(("pod", "gone", "cordon", "larger")), st.sampled_from(NAMES)),
    max_size=12,
)


@given(steps)
@examples(40)
def test_changes_lead_to_the_present_map(told):
    """Whoever applies all changes to the first map has what a newcomer is sent."""
    watched, follower = Watched(), MapTracker()
    for name in NAMES:
        watched.cluster.set_node(node(name, cpu="4"))
    follower.look(watched.columns())
    kept = follower.whole()

    for number, (what, name) in enumerate(told):
        act(watched.cluster, what, name, number)
        change = follower.look(watched.columns())
        if change is not None:
            apply(kept, change)

    newcomer = MapTracker()
    newcomer.look(watched.columns())
    assert kept == newcomer.whole()


def act(cluster, what, name, number):
    if what == "pod":
        cluster.add_pod(pod(f"p{number}", cpu="1", node_name=name))
    elif what == "gone":
        row = cluster.table.row_of(name)
        for uid in list(cluster.table.pods[row])[:1]:
            cluster.remove_pod(cluster.pods[uid].pod)
    elif what == "cordon":
        cluster.set_node(node(name, cpu="4", unschedulable=True))
    else:
        cluster.set_node(node(name, cpu="8"))


def apply(kept, change):
    """What live.js does."""
    assert kept.version == change.version
    for place, index in enumerate(change.nodes):
        kept.pods[index] = change.pods[place]
        kept.flags[index] = change.flags[place]
        for name, values in change.columns.items():
            kept.columns[name][index] = values[place]


def test_labels_by_which_nodes_can_be_grouped():
    nodes = [node(name, labels=f"rack=r1 kubernetes.io/hostname={name}") for name in "abc"]
    found = label_column(7, "rack", [*nodes, node("d")])

    assert found.values == ("r1", "r1", "r1", "")
    assert "rack" in found.keys
    assert "kubernetes.io/hostname" not in found.keys
