"""Pods of pod groups in simulations: all or nothing, in forks too."""

from __future__ import annotations

import pytest

from podium import Simulation
from podium.testing import node
from tests.support.groups import TREES, composite, group, member


def nodes_of(simulation):
    simulation.core.cluster.check_invariants()
    simulation.queue.check_invariants()
    return {pod.name: pod.node_name for pod in simulation.pods.values()}


def gang(size, *, of="gang", cpu="1"):
    return [member(f"{of}-{number}", of, cpu=cpu) for number in range(size)]


@pytest.mark.parametrize(
    ("min_count", "placed"),
    [
        pytest.param(3, 0, id="too-little-room-for-all"),
        pytest.param(2, 2, id="enough-of-them-fit"),
        pytest.param(4, 0, id="too-few-pods"),
        pytest.param(None, 2, id="not-a-gang"),
    ],
)
def test_a_gang_is_placed_as_a_whole(min_count, placed):
    objects = [node("a", cpu="2"), group(min_count=min_count), *gang(3)]

    result = Simulation.from_objects(objects).schedule()

    assert len(result.placed) == placed
    assert len(result.unplaced) == 3 - placed


def test_without_the_gate_groups_mean_nothing():
    objects = [node("a", cpu="2"), group(min_count=3), *gang(3)]

    simulation = Simulation.from_objects(objects, feature_gates=["GenericWorkload=false"])

    assert len(simulation.schedule().placed) == 2


def test_a_group_that_is_added_later_gets_its_pods():
    simulation = Simulation.from_objects([node("a", cpu="2"), *gang(2)])
    assert not simulation.schedule().placed
    fork = simulation.fork()

    fork.add(group(min_count=2))

    assert len(fork.schedule().placed) == 2
    assert set(nodes_of(simulation).values()) == {""}


def test_each_fork_has_its_own_groups():
    """The members wait with their group in one fork, and have a node in another."""
    simulation = Simulation.from_objects([node("a", cpu="2"), group(min_count=3), *gang(3)])
    simulation.schedule()
    larger, smaller = simulation.fork(), simulation.fork()
    larger.add(node("b", cpu="1"))
    smaller.remove("default/gang-2")

    assert len(larger.schedule().placed) == 3
    assert not smaller.schedule().placed
    assert set(nodes_of(larger).values()) == {"a", "b"}
    assert nodes_of(smaller) == {"gang-0": "", "gang-1": ""}
    assert len(nodes_of(simulation)) == 3
    assert [part for _, part in simulation.queue.waiting()] == ["backoff"]


def test_a_gang_preempts_as_a_whole():
    low = [member(f"low-{number}", "low", cpu="1", node="a") for number in range(2)]
    objects = [node("a", cpu="2"), group("low", min_count=2), *low]
    simulation = Simulation.from_objects(objects)
    high = [member(f"high-{number}", "high", cpu="1", priority=10) for number in range(2)]
    simulation.add(group("high", min_count=2, priority=10), *high)

    result = simulation.schedule()

    assert {each.pod for each in result.victims} == {"default/low-0", "default/low-1"}
    assert {each.preemptor for each in result.victims} == {"podgroup/default/high"}
    assert {each.pod for each in result.placed} == {"default/high-0", "default/high-1"}


def test_a_tree_of_groups_is_placed_as_a_whole_in_each_fork():
    leaves = [group(name, min_count=1, parent="root") for name in "ab"]
    objects = [node("a", cpu="1"), composite(min_groups=2, priority=10), *leaves]
    members = [member(f"{name}-0", name, cpu="1", priority=10) for name in "ab"]
    low = member("low-0", "low", cpu="1", node="a")
    simulation = Simulation.from_objects([*objects, group("low"), low], feature_gates=TREES)
    simulation.add(*members)
    assert not simulation.schedule().placed
    fork = simulation.fork()

    fork.add(node("b", cpu="1"))
    result = fork.schedule()

    assert {each.pod for each in result.placed} == {"default/a-0", "default/b-0"}
    assert {each.preemptor for each in result.victims} == {"compositepodgroup/default/root"}
    assert nodes_of(simulation)["low-0"] == "a"
