"""A dry run's world: each row with its own changes, and the cluster untouched."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium import framework as fwk
from podium.state.cluster import ClusterState
from podium.state.overlay import Overlay
from podium.testing.builders import node, pod
from tests.support import snapshots
from tests.support.search import examples

GPU = "example.com/gpu"


def info(name, **rest):
    return fwk.PodInfo(pod(name, **rest))


@pytest.fixture
def state():
    cluster = ClusterState()
    for name in "abc":
        cluster.set_node(node(name))
    cluster.add_pod(pod("x", node="a", cpu="1", priority=1))
    cluster.add_pod(pod("y", node="a", cpu="2", priority=5))
    cluster.add_pod(pod("z", node="b", cpu="3", priority=9))
    return cluster


def world(state, overlay):
    """By node: the names of its pods and the cpu they request."""
    nodes = fwk.Rows(state, overlay.rows, overlay)
    cpu = nodes.requested("cpu").tolist()
    assert [found.requested("cpu") for found in nodes] == cpu
    names = ["".join(sorted(info.pod.name for info in found.pods)) for found in nodes]
    return dict(zip(nodes.names, zip(names, cpu, strict=True), strict=True))


def rows(*numbers):
    return np.array(numbers, np.intp)


def test_nothing_changed(state):
    overlay = state.overlay(rows(0, 1, 2))

    assert world(state, overlay) == {"a": ("xy", 3000), "b": ("z", 3000), "c": ("", 0)}


def test_pods_come_and_go(state):
    before = snapshots.of_cluster(state)
    overlay = state.overlay(rows(0, 1, 2))
    overlay.add([info("n", cpu="500m"), info("m", cpu="1")], rows(0, 2))
    overlay.remove([state.pods["uid-z"]], rows(1))

    assert world(state, overlay) == {"a": ("nxy", 3500), "b": ("", 0), "c": ("m", 1000)}
    assert snapshots.of_cluster(state) == before


def test_what_came_may_go_and_what_went_may_come_back(state):
    overlay = state.overlay(rows(0, 1, 2))
    guest, known = info("n", cpu="1"), state.pods["uid-x"]
    overlay.add([guest], rows(0))
    overlay.remove([guest], rows(0))
    overlay.remove([known], rows(0))
    overlay.add([known], rows(0))

    assert world(state, overlay)["a"] == ("xy", 3000)


def test_several_pods_on_one_row_at_once(state):
    overlay = state.overlay(rows(0, 1, 2))
    overlay.add([info("n", cpu="1"), info("m", cpu="2")], rows(2, 2))

    assert world(state, overlay)["c"] == ("mn", 3000)


def test_all_pods_below_a_priority_leave(state):
    overlay = state.overlay(rows(0, 1))
    overlay.remove_below(9, state.pods.values())
    assert world(state, overlay) == {"a": ("", 0), "b": ("z", 3000)}

    overlay.add([state.pods["uid-y"]], rows(0))
    assert world(state, overlay)["a"] == ("y", 2000)

    overlay.remove([state.pods["uid-y"]], rows(0))
    assert world(state, overlay)["a"] == ("", 0)


def test_an_overlay_over_another(state):
    below = state.overlay(rows(0, 1, 2))
    below.remove([state.pods["uid-x"]], rows(0))
    below.add([info("n", cpu="1")], rows(1))
    above = Overlay.over(state.table, rows(0, 1), below)
    above.add([info("m", cpu="5")], rows(0))
    above.remove([state.pods["uid-z"]], rows(1))

    assert world(state, above) == {"a": ("my", 7000), "b": ("n", 1000)}
    assert world(state, below) == {"a": ("y", 2000), "b": ("nz", 4000), "c": ("", 0)}


def test_an_overlay_over_nothing(state):
    assert world(state, Overlay.over(state.table, rows(1), None)) == {"b": ("z", 3000)}


def test_a_view_of_some_of_its_rows(state):
    overlay = state.overlay(rows(0, 1, 2))
    overlay.add([info("n", cpu="1")], rows(2))
    nodes = fwk.Rows(state, rows(1, 2), overlay)

    assert nodes.requested("cpu").tolist() == [3000, 1000]
    assert nodes.free("cpu").tolist() == [1000, 3000]
    assert nodes.at(1).free("cpu") == 3000


def test_a_dry_run_may_be_the_first_to_name_a_resource(state):
    overlay = state.overlay(rows(0, 1))
    overlay.add([info("n", requests={GPU: 2})], rows(1))
    nodes = fwk.Rows(state, rows(0, 1), overlay)

    assert nodes.requested(GPU).tolist() == [0, 2]
    assert nodes.requested("pods").tolist() == [2, 2]
    state.check_invariants()


def test_a_resource_that_appears_meanwhile(state):
    overlay = state.overlay(rows(0, 1))
    state.rows().free(GPU)
    nodes = fwk.Rows(state, rows(0, 1), overlay)

    assert nodes.requested(GPU).tolist() == [found.requested(GPU) for found in nodes] == [0, 0]


class Model:
    """Each row's pods, by name."""

    def __init__(self, state):
        self.pods = [dict(pods) for pods in state.table.pods[: state.table.size]]

    def requested(self, row, name):
        return sum(info.requests.get(name, 0) for info in self.pods[row].values())


@given(st.data())
@examples(150)
def test_against_a_model(data):
    state = ClusterState()
    for name in "abcd":
        state.set_node(node(name))
    amounts = st.sampled_from(("100m", "1", "2500m"))
    extra = st.sampled_from(({}, {GPU: 1}))
    for number in range(data.draw(st.integers(0, 8))):
        state.add_pod(
            pod(f"p{number}", node=data.draw(st.sampled_from("abcd")), cpu=data.draw(amounts),
                requests=data.draw(extra), priority=data.draw(st.integers(0, 3)))
        )  # fmt: skip
    before = snapshots.of_cluster(state)
    chosen = sorted(data.draw(st.sets(st.integers(0, 3), min_size=1)))
    overlay, model = state.overlay(rows(*chosen)), Model(state)
    if data.draw(st.booleans()):
        priority = data.draw(st.integers(0, 4))
        overlay.remove_below(priority, state.pods.values())
        model.pods = [{u: i for u, i in p.items() if i.priority >= priority} for p in model.pods]
    for step in range(data.draw(st.integers(0, 6))):
        row = data.draw(st.sampled_from(chosen))
        gone = [i for u, i in state.table.pods[row].items() if u not in model.pods[row]]
        if model.pods[row] and data.draw(st.booleans()):
            leaving = model.pods[row].pop(data.draw(st.sampled_from(sorted(model.pods[row]))))
            overlay.remove([leaving], rows(row))
        else:
            guest = info(f"g{step}", cpu=data.draw(amounts), requests=data.draw(extra))
            coming = data.draw(st.sampled_from([guest, *gone]))
            model.pods[row][coming.uid] = coming
            overlay.add([coming], rows(row))
        if data.draw(st.integers(0, 3)) == 0:
            overlay = Overlay.over(state.table, overlay.rows, overlay)
    nodes = fwk.Rows(state, rows(*chosen), overlay)

    for row, found in zip(chosen, nodes, strict=True):
        assert {one.uid for one in found.pods} == set(model.pods[row])
        for name in ("cpu", GPU):
            assert found.requested(name) == model.requested(row, name)
    assert nodes.requested("cpu").tolist() == [model.requested(row, "cpu") for row in chosen]
    assert nodes.requested("pods").tolist() == [len(model.pods[row]) for row in chosen]
    after = snapshots.of_cluster(state)
    assert after["pods"] == before["pods"]
    assert after["journal"] == before["journal"]
    state.check_invariants()
