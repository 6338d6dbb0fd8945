"""What the queue tells metrics, dumps and people."""

import pytest

from podium import framework as fwk
from podium.framework.nominator import Nominator
from podium.queue.observation import Pending
from podium.queue.rules import ProfileRules
from podium.queue.scheduling_queue import SchedulingQueue
from podium.testing.builders import pod
from tests.support.queue import NODE_ADD, NODE_TAINT, World
from tests.support.toys import profile


@pytest.fixture
def world():
    """One pod in each place, one in flight."""
    world = World()
    world.fail("held", "F", "F2")
    world.fail("failed")
    world.fail("backing-off", "F2")
    world.happens(NODE_ADD, "backing-off")
    world.gate.closed.add("gated")
    world.add("gated", "flying")
    world.pop()
    world.add("active")
    return world


def test_pending(world):
    assert world.queue.pending() == Pending(active=1, backoff=2, unschedulable=1, gated=1)
    assert world.queue.pending().total == 5


def test_summary_of_a_dump(world):
    assert str(world.queue.pending()) == "activeQ:1; backoffQ:2; unschedulablePods:2"


def test_listing(world):
    names = [queued.pod.name for queued in world.queue.pods()]

    assert names == ["active", "backing-off", "failed", "held", "gated"]


def test_places(world):
    assert world.places() == {
        "active": "active",
        "backing-off": "backoff",
        "failed": "backoff",
        "held": "unschedulable",
        "gated": "gated",
    }
    assert world.place("flying") == ""


def test_rejections_by_plugin(world):
    name = "default-scheduler"

    assert world.queue.inspection.rejections() == {("F", name): 1, ("F2", name): 2, ("G", name): 1}


def test_rejections_end_with_the_next_attempt(world):
    world.queue.activate([pod("held")])
    world.drain()

    assert world.queue.inspection.rejections() == {("G", "default-scheduler"): 1}


def test_events_in_flight(world):
    world.happens(NODE_ADD)
    world.happens(NODE_ADD)
    world.happens(NODE_TAINT)

    counts = {"PodPopped": 1, "NodeAdd": 2, "NodeUpdateNodeTaint": 1}
    assert world.queue.in_flight_events() == counts


def test_who_entered_and_why(world):
    world.advance(2.0)

    assert world.seen.entered == {
        ("active", "UnscheduledPodAdd"): 5,
        ("unschedulable", "UnscheduledPodAdd"): 1,
        ("unschedulable", "ScheduleAttemptFailure"): 2,
        ("backoff", "ScheduleAttemptFailure"): 1,
        ("backoff", "NodeAdd"): 1,
        ("active", "BackoffComplete"): 2,
    }


def test_who_moved_to_another_queue_than_hints_stand_for(world):
    """Failing pods stay out unless a hint says otherwise; such a hint stands for backoff."""
    world.advance(2.0)
    world.happens(NODE_TAINT)

    assert +world.seen.moved == {
        ("active", "UnscheduledPodAdd"): 5,
        ("unschedulable", "UnscheduledPodAdd"): 1,
        ("active", "BackoffComplete"): 2,
    }


def test_after_backoff_a_pod_moves_past_it():
    world = World()
    world.fail("late", "F")
    world.advance(5.0)
    world.happens(NODE_ADD, "late")

    assert world.seen.moved["active", "NodeAdd"] == 1


def test_a_pod_that_stays_did_not_enter(world):
    before = world.seen.entered.copy()
    world.queue.update(pod("held"), pod("held", annotations={"k": "v"}))
    world.queue.activate([pod("gated")])

    assert world.seen.entered == before


def test_hints(world):
    assert sorted(world.seen.hinted) == [
        ("F", "NodeAdd", "QueueSkip"),
        ("F2", "NodeAdd", "Queue"),
        ("F2", "NodeAdd", "QueueSkip"),
    ]


def test_pre_enqueue_is_timed():
    world = World()
    world.add("a")

    assert world.seen.gated == [("default-scheduler", "PreEnqueue", "Success")]


def test_each_profile_has_its_own_plugins():
    world = World()
    bare = ProfileRules.of(profile(world.plugins[0]))
    rules = {"full": ProfileRules.of(profile(*world.plugins)), "bare": bare}
    queue = SchedulingQueue(world.clock, rules, Nominator())
    world.gate.closed.update(("a", "b", "c"))
    for name, scheduler in (("a", "full"), ("b", "bare"), ("c", "unknown")):
        queue.add(pod(name, scheduler_name=scheduler))

    assert [queue.queue_of(f"default/{name}") for name in "abc"] == ["gated", "active", "active"]
    queued = queue.pop_now()
    queued.rejected_by(["F"])
    queue.put_back(queued)
    queue.on_event(fwk.ClusterEvent.named("Node", "UpdateNodeTaint"), None, None)
    assert queue.queue_of("default/b") == "unschedulable", "F is none of its profile's"
