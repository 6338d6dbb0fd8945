"""Where a pod waits, since when, and what would move it."""

import pytest

from podium.queue.patient_queue import PatientQueue
from podium.queue.scheduling_queue import SchedulingQueue
from podium.testing.builders import pod
from tests.support.queue import World


@pytest.fixture
def world():
    return World()


def of(world, name):
    return world.queue.inspection.of_pod(pod(name).key)


def test_an_unknown_pod(world):
    assert of(world, "a") is None


def test_a_new_pod_is_active(world):
    world.advance(5)
    world.add("a")

    found = of(world, "a")
    assert (found.pod, found.queue, found.attempts) == ("default/a", "active", 0)
    assert found.since == found.first_queued == world.clock.now()
    assert (found.backoff_until, found.retried_at, found.waking_events) == (None, None, None)


def test_a_rejected_pod_waits_for_events_of_its_rejectors(world):
    world.fail("a", "F", "F2")

    found = of(world, "a")
    assert (found.queue, found.attempts, found.rejected_by) == ("unschedulable", 1, ("F", "F2"))
    assert found.retried_at == found.since + 300
    assert found.waking_events == {
        "F": ("Node Add",),
        "F2": ("Node Add", "Node UpdateNodeLabel", "Pod UpdatePodLabel"),
    }


def test_a_gated_pod_waits_for_events_of_its_gate(world):
    world.gate.closed.add("a")
    world.add("a")

    found = of(world, "a")
    assert (found.queue, found.gated_by) == ("gated", "G")
    assert found.waking_events == {"G": ("Pod Delete",)}


@pytest.mark.parametrize("queue", [SchedulingQueue, PatientQueue])
def test_backoff_ends_when_it_says(queue):
    world = World(queue=queue)
    world.fail("a")  # an error: no plugin is to blame

    found = of(world, "a")
    assert found.queue == "backoff"
    before = found.backoff_until - world.clock.now() - 0.01
    world.advance(before)
    assert of(world, "a").queue == "backoff"
    world.advance(1.02)
    assert of(world, "a").queue == "active"


def test_the_first_pods_of_each_sub_queue(world):
    world.fail("waits", "F")
    for name, priority in (("low", 1), ("high", 9), ("middle", 5)):
        world.add(name, priority=priority)

    first = world.queue.inspection.first(2)
    assert [(each.pod, each.queue) for each in first] == [
        ("default/high", "active"),
        ("default/middle", "active"),
        ("default/waits", "unschedulable"),
    ]
