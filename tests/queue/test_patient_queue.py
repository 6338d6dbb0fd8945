"""The queue without SchedulerPopFromBackoffQ: nobody gets out of backoff early."""

import pytest

from podium.queue.patient_queue import PatientQueue
from podium.testing.builders import pod
from tests.support.queue import NODE_ADD, START, World


@pytest.fixture
def world():
    return World(queue=PatientQueue)


def wake(world, *names):
    world.happens(NODE_ADD, ".".join(names))


def test_a_rejected_pod_waits_although_nothing_else_is_to_be_done(world):
    world.fail("a", "F")
    wake(world, "a")

    assert world.place("a") == "backoff"
    assert world.pop() is None


def test_it_waits_to_the_moment_and_leaves_with_the_next_tick(world):
    """The wait is a second; ticks are a second apart from the start, so that it takes two."""
    world.fail("a", "F")
    wake(world, "a")

    world.advance(1.0)  # expired at this very moment: still waiting, as upstream
    assert world.place("a") == "backoff"
    world.advance(0.875)
    assert world.place("a") == "backoff"
    world.advance(0.125)
    assert world.place("a") == "active"


def test_moments_count_and_not_seconds(world):
    """From 1.25 to 2.25, seen at 2.5; by whole seconds it would be 2 until 3, seen at 3.5."""
    world.advance(0.75)
    world.fail("a", "F")
    wake(world, "a")

    world.advance(1.25)
    assert world.place("a") == "active"


def test_ticks_begin_when_it_starts(world):
    world.advance(0.25)
    world.fail("a", "F")
    wake(world, "a")

    world.advance(1.625)
    assert world.place("a") == "backoff"
    world.advance(0.125)
    assert (world.clock.now() - START, world.place("a")) == (2.0, "active")


def test_pods_of_one_second_come_out_by_their_moments(world):
    """With the feature the order would be that of priorities."""
    world.fail("first", "F", priority=1)
    world.advance(0.25)
    world.fail("second", "F", priority=9)
    wake(world, "first", "second")

    assert [queued.pod.name for queued in world.queue.pods()] == ["first", "second"]


def test_pre_enqueue_is_asked_on_the_way_out(world):
    world.fail("a", "F")
    world.gate.closed.add("a")
    asked = len(world.seen.gated)
    wake(world, "a")
    assert (world.place("a"), len(world.seen.gated)) == ("backoff", asked)

    world.advance(2)
    assert world.place("a") == "gated"
    assert len(world.seen.gated) == asked + 1


def test_activation_asks_it_too(world):
    world.fail("open", "F")
    world.fail("shut", "F")
    wake(world, "open", "shut")
    world.gate.closed.add("shut")

    world.queue.activate([pod("open"), pod("shut"), pod("unknown")])

    assert world.places() == {"open": "active", "shut": "gated"}


def test_activation_of_a_pod_that_no_event_has_helped(world):
    world.fail("a", "F")
    world.queue.activate([pod("a")])

    assert world.place("a") == "active"


def test_other_plugins_leave_the_order_by_moments(world):
    world.fail("first", "F", priority=1)
    world.advance(0.25)
    world.fail("second", "F", priority=9)
    wake(world, "first", "second")
    world.queue.use(world.queue._profiles)

    assert [queued.pod.name for queued in world.queue.pods()] == ["first", "second"]
