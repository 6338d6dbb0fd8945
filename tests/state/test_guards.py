"""What keeps a careless plugin or an absurd object from breaking the state."""

import numpy as np
import pytest

from podium import app, config
from podium import framework as fwk
from podium.api.objects import CSINode, Lease, Node, Pod, decode
from podium.errors import CacheError, InvalidObject
from podium.state.cluster import ClusterState
from podium.state.column import packed
from podium.testing.builders import node, pod


@pytest.mark.parametrize("count", [1, 12, 13, 60, 61, 64, 130])
def test_any_number_of_flags_is_packed(count):
    rows = np.random.default_rng(7).integers(0, 2, (20, count)).astype(bool)

    found = list(packed([rows[:, place] for place in range(count)]))

    assert found == [sum(1 << p for p in range(count) if row[p]) for row in rows.tolist()]


@pytest.mark.parametrize("count", [61, 64, 70])
def test_a_node_that_lacks_one_of_many_resources_is_refused(count):
    names = [f"example.com/r{place:03d}" for place in range(count)]
    core = app.build(config.default(app.in_tree()))
    for name in "abcdef":
        core.cluster.set_node(node(name, allocatable=dict.fromkeys(names[:-1], 1)))

    outcome = core.cycle(fwk.QueuedPod.of(pod(requests=dict.fromkeys(names, 1)))).run()

    assert f"6 Insufficient {names[-1]}. " in outcome.message
    assert "Preemption is not helpful" in outcome.message


@pytest.mark.parametrize(
    "column",
    [
        pytest.param(lambda nodes: nodes.allocatable("cpu"), id="allocatable"),
        pytest.param(lambda nodes: nodes.requested("cpu"), id="requested"),
        pytest.param(lambda nodes: nodes.non_zero_requested("cpu"), id="non-zero"),
        pytest.param(lambda nodes: nodes.labels["zone"].numbers, id="label"),
        pytest.param(lambda nodes: nodes.unschedulable, id="unschedulable"),
        pytest.param(lambda nodes: nodes.taints.index, id="taints"),
        pytest.param(lambda nodes: nodes.index, id="index"),
    ],
)
def test_views_of_all_nodes_cannot_be_written_to(column):
    nodes = fwk.Rows.of(*(node(name, labels="zone=z") for name in "abc"))

    with pytest.raises(ValueError, match="read-only"):
        column(nodes)[0] = 1


@pytest.mark.parametrize(
    ("kind", "value", "path"),
    [
        pytest.param(
            CSINode,
            {"spec": {"drivers": [{"name": "d", "allocatable": {"count": 10**30}}]}},
            "spec.drivers[0].allocatable.count",
            id="volumes",
        ),
        pytest.param(
            Node, {"status": {"images": [{"names": ["a"], "sizeBytes": 10**30}]}},
            "status.images[0].sizeBytes", id="image-size",
        ),
        pytest.param(Pod, {"spec": {"priority": -(10**19)}}, "spec.priority", id="priority"),
    ],
)  # fmt: skip
def test_integers_the_api_has_no_room_for_are_refused(kind, value, path):
    with pytest.raises(InvalidObject, match=r"Expected `int` [<>]= -?9223372036") as refused:
        decode(kind, {"metadata": {"name": "x"}, **value})

    assert [problem.path for problem in refused.value.problems] == [path]
    assert refused.value.key == "x"


def test_kinds_that_are_not_kept_are_named():
    with pytest.raises(CacheError, match=r"^the state keeps no Lease objects"):
        ClusterState().set_object(Lease())
