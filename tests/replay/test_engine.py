"""What happens to pods of small traces: when they are bound, and what becomes of them."""

import pytest

from podium import app
from podium import framework as fwk
from podium.api.objects import Pod
from podium.errors import ReplayError
from podium.replay import variants
from tests.support.replay import (
    arrive,
    bound_at,
    depart,
    fates,
    lives,
    nodes,
    remove_node,
    replay,
    trace,
)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        pytest.param([arrive("a", 3, cpu="1")], {"a": 3}, id="room-at-once"),
        pytest.param([arrive("a", 0, cpu="5")], {"a": None}, id="never-any-room"),
        pytest.param(
            [arrive("a", 0, cpu="3", duration=10), arrive("b", 2, cpu="3")],
            {"a": 0, "b": 10},
            id="waits-until-another-finishes",
        ),
        pytest.param(
            [arrive("a", 0, cpu="3"), arrive("b", 2, cpu="3"), depart("a", 7.5)],
            {"a": 0, "b": 7.5},
            id="waits-until-another-departs",
        ),
        pytest.param(
            [arrive("a", 0, cpu="4", duration=5), arrive("b", 5, cpu="4")],
            {"a": 0, "b": 5},
            id="a-pod-leaves-before-another-comes-at-the-same-moment",
        ),
        pytest.param(
            [arrive("a", 0, cpu="4"), arrive("b", 1, cpu="4"), nodes("m", time=9)],
            {"a": 0, "b": 9},
            id="a-new-node",
        ),
        pytest.param(
            [arrive("low", 0, cpu="4"), arrive("high", 0, cpu="4", priority=5)],
            {"low": None, "high": 0},
            id="the-higher-priority-of-one-moment-is-first",
        ),
        pytest.param([arrive("a", 0, duration=0), arrive("b", 0)], {"a": 0, "b": 0}, id="no-time"),
    ],
)
def test_when_pods_are_bound(lines, expected):
    assert bound_at(replay(nodes(), *lines)) == expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        pytest.param([arrive("a", 0, duration=3)], "finished", id="its-time-is-over"),
        pytest.param([arrive("a", 0)], "running", id="without-a-duration"),
        pytest.param([arrive("a", 0, duration=9), depart("a", 2)], "deleted", id="departs-early"),
        pytest.param([arrive("a", 0, duration=2), depart("a", 9)], "finished", id="departs-late"),
        pytest.param([arrive("a", 0, cpu="5"), depart("a", 2)], "withdrawn", id="never-bound"),
        pytest.param([arrive("a", 0, cpu="5")], "pending", id="pending"),
        pytest.param([arrive("a", 0), remove_node("n", 2)], "pending", id="its-node-leaves"),
        pytest.param(
            [arrive("a", 0, restarts=False), remove_node("n", 2)], "lost", id="does-not-restart"
        ),
    ],
)
def test_what_becomes_of_a_pod(lines, expected):
    assert fates(replay(nodes(), *lines)) == {"a": expected}


def test_a_pod_evicts_others_of_lower_priority_and_they_restart():
    found = replay(
        nodes(),
        arrive("low", 0, cpu="3", duration=100),
        arrive("high", 10, cpu="3", priority=7, duration=20),
    )

    low, high = lives(found)["low"], lives(found)["high"]
    assert high.bound == 11  # containers take a second to stop
    assert (low.restarts, low.bound, low.ended) == (1, 0, 131)  # it runs again from 31 on
    assert (low.wait, high.wait) == (20, 1)
    assert found.figures().evictions == 1


def test_the_pod_that_started_last_is_evicted():
    """As preemption compares start times, the pods of a replay must have them."""
    found = replay(
        nodes(count=2),
        arrive("older", 0, cpu="4"),
        arrive("younger", 50, cpu="4"),
        arrive("high", 100, cpu="4", priority=7),
    )

    assert fates(found) == {"older": "running", "younger": "pending", "high": "running"}


def test_an_attempt_may_take_time():
    pods = [arrive(f"p{number}", 0, cpu="1") for number in range(4)]

    found = replay(nodes(), *pods, attempt_seconds=0.5)

    assert list(bound_at(found).values()) == [0, 0.5, 1, 1.5]


def test_a_pod_that_arrives_during_an_attempt_is_next_by_priority():
    lines = [arrive("a", 0, cpu="1"), arrive("b", 0, cpu="1"), arrive("c", 0.1, priority=9)]

    found = replay(nodes(), *lines, attempt_seconds=0.5)

    assert bound_at(found) == {"a": 0, "c": 0.5, "b": 1}


def test_the_end_ends_it():
    found = replay(nodes(), arrive("a", 0, duration=50), {"event": "end", "time": 20})

    assert fates(found) == {"a": "running"}
    assert found.figures().seconds == 20


def test_shapes_and_whole_pods():
    pod = {"spec": {"containers": [{"name": "c"}], "nodeSelector": {"disk": "ssd"}}}
    lines = [
        {"event": "shape", "name": "fast", "pod": pod},
        nodes("plain"),
        nodes("fast", labels={"disk": "ssd"}),
        arrive("a", 0, shape="fast"),
        arrive("other/b", 0, pod=pod),
    ]

    found = replay(*lines)

    assert {life.key: life.node for life in found.lives} == {
        "default/a": "fast",
        "other/b": "fast",
    }


def test_objects_that_are_there_from_the_beginning():
    node = {
        "kind": "Node",
        "metadata": {"name": "n"},
        "status": {"allocatable": {"cpu": "4", "pods": 9}},
    }
    runs = {"kind": "Pod", "metadata": {"name": "runs"}, "spec": {"nodeName": "n", "containers": [
        {"resources": {"requests": {"cpu": "3"}}}]}}  # fmt: skip
    waits = {"kind": "Pod", "metadata": {"name": "waits"}, "spec": {"priorityClassName": "high"}}
    first = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "high"},
        "value": 1000,
    }
    objects = {"event": "objects", "items": [waits, runs, node, first]}

    found = replay(objects, arrive("new", 1, cpu="2"), depart("runs", 5))

    assert {life.key: life.bound for life in found.lives} == {"default/waits": 0, "default/new": 5}


def test_a_pod_of_no_profile_is_refused():
    lines = trace(nodes(), arrive("a", 0, pod={"spec": {"schedulerName": "mine"}}))

    with pytest.raises(ReplayError, match='pod a names the scheduler "mine", but default has def'):
        variants.check(lines, variants.Variant())


class Pair(fwk.PermitPlugin):
    """Lets pods go in pairs."""

    name = "Pair"

    def __init__(self, args: fwk.Args, handle: fwk.Handle) -> None:
        self._handle = handle

    def permit(self, state: fwk.CycleState, pod: Pod, node_name: str) -> fwk.Status | fwk.Wait:
        for other in self._handle.waiting_pods:
            other.allow(self.name)
            return fwk.SUCCESS
        return fwk.wait(5)


def test_pods_wait_on_permit():
    registry = app.in_tree()
    registry.register(Pair, enable=True)

    found = replay(nodes(), arrive("a", 0), arrive("b", 3), registry=registry)

    assert bound_at(found) == {"a": 3, "b": 3}


def test_a_permit_that_does_not_come_frees_the_node():
    registry = app.in_tree()
    registry.register(Pair, enable=True)

    found = replay(
        nodes(), arrive("a", 0, cpu="4"), depart("a", 7), arrive("b", 8, cpu="4"),
        arrive("c", 9, cpu="0"), registry=registry,
    )  # fmt: skip

    assert fates(found) == {"a": "withdrawn", "b": "running", "c": "running"}
