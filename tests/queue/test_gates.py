"""Pods that a PreEnqueue plugin holds back, and what lets them through."""

import pytest

from podium import framework as fwk
from podium.testing.builders import pod
from tests.support.queue import (
    BROKEN,
    NODE_ADD,
    NODE_TAINT,
    POD_DELETE,
    Gate,
    Rejecting,
    World,
    waiting_for,
)


@pytest.fixture
def world():
    return World()


def gated(world, name, *gates, plugins=()):
    """Closed by these gates, after it was rejected by these plugins, if any."""
    if plugins:
        world.fail(name, *plugins)
        world.advance(2.0)
    for gate in gates:
        gate.closed.add(name)
    if plugins:
        world.queue.activate([pod(name)])
    else:
        world.add(name)
    assert world.place(name) == "gated"


def test_gated_pods_are_not_popped(world):
    gated(world, "a", world.gate)

    assert world.pop() is None
    assert world.queue.pending() == (0, 0, 0, 1)
    (queued,) = world.queue.pods()
    assert queued.gating_plugin == "G"
    assert queued.first_queued is None, "time at the gate does not count"


@pytest.mark.parametrize(
    ("event", "to", "place"),
    [
        pytest.param(POD_DELETE, "a", "active", id="the-gates-own-event"),
        pytest.param(POD_DELETE, "b", "gated", id="whose-hint-says-no"),
        pytest.param(NODE_ADD, "a", "gated", id="an-event-of-another-plugin"),
        pytest.param(NODE_TAINT, "a", "gated", id="of-another-gate"),
    ],
)
def test_open_gates_are_noticed_at_the_gates_events(world, event, to, place):
    gated(world, "a", world.gate)
    world.gate.closed.clear()
    world.happens(event, to)

    assert world.place("a") == place


def test_at_a_gate_other_rejectors_are_asked_only_at_the_gates_events(world):
    gated(world, "a", world.gate, plugins=["F"])
    world.gate.closed.clear()
    world.happens(NODE_ADD, "a")

    assert world.place("a") == "gated"
    assert world.seen.hinted == []


def test_closed_gates_stay_closed(world):
    gated(world, "a", world.gate)
    world.happens(POD_DELETE, "a")

    assert world.place("a") == "gated"
    assert world.queue.pending().gated == 1


def test_at_the_gates_event_other_rejectors_may_say_yes():
    """So preemption works: its gate never says yes, the plugin whose victim left does."""
    fits = waiting_for(Rejecting("Fit"), fwk.on("Pod", "delete"))
    world = World(fits)
    gated(world, "a", world.gate, plugins=["Fit"])
    world.gate.closed.clear()
    world.happens(POD_DELETE, "nobody")

    assert world.place("a") == "active"


def test_the_next_gate_takes_over(world):
    gated(world, "a", world.gate, world.gate2)
    world.gate.closed.clear()
    world.happens(POD_DELETE, "a")

    (queued,) = world.queue.pods()
    assert queued.gating_plugin == "G2"
    assert queued.unschedulable_plugins == {"G", "G2"}
    world.gate2.closed.clear()
    world.happens(NODE_TAINT)
    assert world.place("a") == "active"
    assert not queued.is_gated


def test_the_gate_that_holds_is_asked_first(world):
    gated(world, "a", world.gate2)
    asked = world.gate.asked = world.gate2.asked = []
    world.happens(NODE_TAINT)

    assert asked == ["G2"]


def test_a_broken_gate_holds(world, caplog):
    world.gate.answer = BROKEN
    world.add("a")

    assert world.place("a") == "gated"
    assert "a preenqueue plugin failed" in caplog.text
    world.gate.answer = None
    world.happens(POD_DELETE, "a")
    assert world.place("a") == "active"


def test_gates_stand_before_backoff_too(world):
    world.fail("a", "F")
    world.gate.closed.add("a")
    world.happens(NODE_ADD, "a")

    assert world.place("a") == "gated"


def test_gates_do_not_stand_behind_backoff(world):
    world.fail("a", "F")
    world.happens(NODE_ADD, "a")
    world.gate.closed.add("a")
    world.advance(2.0)

    assert world.place("a") == "active"


def test_a_failed_pod_can_be_gated(world):
    world.add("a")
    queued = world.pop()
    world.gate.closed.add("a")
    world.put_back(queued)

    assert world.place("a") == "gated"
    assert queued.consecutive_errors == 1


def test_gated_pods_are_looked_at_too(world):
    gated(world, "a", world.gate)
    asked = len(world.gate.asked)
    world.advance(330.0)

    (queued,) = world.queue.pods()
    assert world.place("a") == "gated"
    assert len(world.gate.asked) == asked + 1
    assert not queued.was_flushed, "it did not get out"
    world.advance(300.0)
    assert len(world.gate.asked) == asked + 1, "the time counts from the last look"
    world.gate.closed.clear()
    world.advance(30.0)
    assert world.place("a") == "active"
    assert queued.was_flushed


class Telling(Gate):
    """A gate that can tell which pods it holds."""

    def held(self):
        return {f"uid-{name}" for name in self.closed}


def test_a_pod_that_a_gate_is_known_to_hold_is_gated_without_asking_hints():
    gate = Telling("T")
    world = World(gate)
    world.fail("a", "F")
    world.fail("b", "F")
    gate.closed.add("a")
    world.happens(NODE_ADD, "a.b")
    assert world.places() == {"a": "gated", "b": "backoff"}
    assert [hint for hint in world.seen.hinted if hint[0] == "F"] == [("F", "NodeAdd", "Queue")]

    world.happens(NODE_ADD, "a")
    assert world.place("a") == "gated", "only what its gate waits for reaches it now"
    gate.closed.clear()
    world.queue.on_event(POD_DELETE, pod("gone", node="n", labels={"helps": "a"}), None)
    assert world.place("a") == "backoff"
