"""Views of candidate nodes: one place per node, whatever the table looks like."""

import numpy as np
import pytest

from podium import framework as fwk
from podium.state.rows import PodsOnRows
from podium.testing.builders import node, pod
from tests.support.views import state_of


@pytest.fixture
def nodes():
    return fwk.Rows.of(
        node("a", taints="t:NoSchedule", labels="zone=x"),
        node("b", unschedulable=True),
        node("c", cpu="1"),
        pods=[pod("x", node="a"), pod("y", node="c", cpu="500m")],
    )


@pytest.fixture
def holes(nodes):
    """The same nodes with a removed one and a ghost among them."""
    cluster = state_of(nodes)
    cluster.set_node(node("gone"))
    cluster.set_node(node("d", cpu="2"))
    cluster.remove_node("gone")
    cluster.add_pod(pod("early", node="late", cpu="3"))
    return cluster.rows()


def test_nodes_in_the_order_of_rows(nodes):
    assert nodes.names == ["a", "b", "c"]
    assert [found.name for found in nodes] == ["a", "b", "c"]
    assert (len(nodes), nodes.at(1).name) == (3, "b")


def test_columns(nodes):
    assert nodes.free("cpu").tolist() == [4000, 4000, 500]
    assert nodes.unschedulable.tolist() == [False, True, False]
    assert [len(taints) for taints in nodes.taints] == [1, 0, 0]
    assert nodes.labels["zone"].present.tolist() == [True, False, False]


def test_holes_in_the_table_do_not_show(holes):
    assert holes.names == ["a", "b", "c", "d"]
    assert holes.allocatable("cpu").tolist() == [4000, 4000, 1000, 2000]
    assert holes.requested("pods").tolist() == [1, 0, 1, 0]
    assert holes.unschedulable.tolist() == [False, True, False, False]
    assert [found.free("cpu") for found in holes] == holes.free("cpu").tolist()


@pytest.mark.parametrize("wanted", [[0], [2, 3], [], [0, 1, 2, 3]])
def test_a_view_of_some_nodes(holes, wanted):
    some = fwk.Rows(holes.cluster, holes.index[wanted])

    assert some.names == [holes.names[place] for place in wanted]
    assert some.free("cpu").tolist() == [holes.free("cpu").tolist()[place] for place in wanted]
    assert len(some.taints) == len(wanted)
    assert len(some.labels["zone"].numbers) == len(wanted)


def test_no_nodes_at_all():
    nodes = fwk.Rows.of()

    assert (len(nodes), nodes.names, list(nodes)) == (0, [], [])
    assert nodes.free("cpu").tolist() == []
    assert nodes.free("example.com/gpu").tolist() == []
    assert list(nodes.taints) == []


def test_one_node(nodes):
    found = nodes.at(0)

    assert found.node.name == found.name == "a"
    assert found.labels == {"zone": "x"}
    assert [taint.key for taint in found.taints] == ["t"]
    assert [info.key for info in found.pods] == ["default/x"]
    assert found.non_zero_requested("cpu") == 100
    assert repr(found) == "NodeInfo(a)"


def test_a_row_without_a_node_has_none(nodes):
    state_of(nodes).remove_node("a")

    with pytest.raises(LookupError):
        _ = nodes.at(0).node


def test_views_follow_the_cluster(nodes):
    state_of(nodes).add_pod(pod("z", node="b", cpu="1"))

    assert nodes.free("cpu").tolist() == [4000, 3000, 500]


def test_pods_with_their_nodes(nodes):
    infos = [fwk.PodInfo(pod(name)) for name in ("p", "q")]
    others = PodsOnRows(nodes, infos, np.array([2, 0], np.intp))

    assert len(others) == 2
    assert [(info.pod.name, found.name) for info, found in others] == [("p", "c"), ("q", "a")]
