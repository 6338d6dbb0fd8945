"""Pods come, are tried and come back: in which order, and where to."""

import asyncio

import pytest

from podium import framework as fwk
from podium.clock import give_way
from podium.testing.builders import pod
from tests.support.queue import (
    NODE_ADD,
    NODE_LABEL,
    NODE_TAINT,
    POD_ADD,
    POD_DELETE,
    START,
    Rejecting,
    World,
    waiting_for,
)


@pytest.fixture
def world():
    return World()


def test_high_priority_first_then_as_they_came(world):
    world.add("a", priority=1)
    world.add("b", "c", priority=5)
    world.clock.advance(1.0)
    world.add("d", priority=5)

    assert world.drain() == ["b", "c", "d", "a"]


def test_popping_counts_attempts_and_puts_in_flight(world):
    world.add("a")
    queued = world.pop()

    assert queued.attempts == 1
    assert queued.first_queued == START
    assert world.queue.in_flight_events() == {"PodPopped": 1}
    assert world.places() == {}
    world.queue.done(queued.uid)
    assert world.queue.in_flight_events() == {}


def test_the_first_entry_is_remembered(world):
    queued = world.fail("a")
    world.advance(2.0)

    assert world.pop() is queued
    assert queued.first_queued == START
    assert queued.timestamp == START


def test_nothing_to_pop(world):
    assert world.pop() is None


@pytest.mark.parametrize(
    ("plugins", "pending", "place"),
    [
        pytest.param(["F"], [], "unschedulable", id="rejected"),
        pytest.param([], ["P"], "unschedulable", id="pending"),
        pytest.param([], [], "backoff", id="error"),
    ],
)
def test_where_a_failed_pod_goes(world, plugins, pending, place):
    queued = world.fail("a", *plugins, pending=pending)

    assert world.place("a") == place
    assert world.queue.in_flight_events() == {}
    assert (queued.unschedulable_count, queued.consecutive_errors) == (
        (0, 1) if place == "backoff" else (1, 0)
    )


def test_counts_of_rejections_and_errors_are_kept_apart(world):
    queued = world.fail("a")
    for plugins in ([], ["F"], [], ["F"]):
        world.queue.activate([queued.pod])
        assert world.pop() is queued
        world.put_back(queued, *plugins)

    assert queued.unschedulable_count == 2, "never reset"
    assert queued.consecutive_errors == 0, "only in a row"
    assert queued.attempts == 5


@pytest.mark.parametrize(
    ("event", "to", "place"),
    [
        pytest.param(NODE_ADD, "a", "backoff", id="helps"),
        pytest.param(NODE_ADD, "b", "unschedulable", id="helps-another"),
        pytest.param(POD_ADD, "a", "unschedulable", id="nobody-listens"),
        pytest.param(POD_DELETE, "a", "unschedulable", id="only-another-plugin-listens"),
        pytest.param(NODE_ADD, "broken", "backoff", id="a-broken-hint-means-yes"),
    ],
)
def test_events_during_the_attempt_are_asked_about_afterwards(world, event, to, place):
    world.add("a")
    queued = world.pop()
    world.happens(event, to)
    world.put_back(queued, "F")

    assert world.place("a") == place


def test_no_hint_means_yes():
    world = World(waiting_for(Rejecting("T"), fwk.on("Node", "taint")))
    world.add("a")
    queued = world.pop()
    world.happens(NODE_TAINT)
    world.put_back(queued, "T")

    assert world.place("a") == "backoff"


def test_events_before_the_attempt_are_not(world):
    world.add("first", "a")
    world.pop()
    world.happens(NODE_ADD, "a")
    queued = world.pop()
    world.put_back(queued, "F")

    assert queued.pod.name == "a"
    assert world.place("a") == "unschedulable"


def test_a_pending_plugin_wants_the_pod_at_once(world):
    world.add("a")
    queued = world.pop()
    world.happens(NODE_ADD, "a")
    world.put_back(queued, "F", pending=["P"])

    assert world.place("a") == "active"


@pytest.mark.parametrize("events", [(NODE_LABEL, NODE_ADD), (NODE_ADD, NODE_LABEL)])
def test_at_once_beats_after_backoff_in_any_order(world, events):
    """Only F2 hears of labels; of the new node P hears too."""
    world.add("a")
    queued = world.pop()
    for event in events:
        world.happens(event, "a")
    world.put_back(queued, "F2", pending=["P"])

    assert world.place("a") == "active"


def test_who_is_not_in_flight_comes_back_after_backoff(world):
    """A binding that fails late: the queue kept no events for it."""
    world.add("a")
    queued = world.pop()
    world.queue.done(queued.uid)
    world.put_back(queued, "F")

    assert world.place("a") == "backoff"


def test_deleted_while_in_flight(world):
    world.add("a", status={"nominated_node_name": "n1"})
    queued = world.pop()
    world.queue.delete(queued.pod)

    assert world.queue.in_flight_events() == {"PodPopped": 1}
    assert len(world.nominator) == 0
    world.queue.done(queued.uid)
    assert world.places() == {}


@pytest.mark.parametrize("plugins", [[], ["F"]])
def test_another_pod_of_the_name_took_the_place(world, plugins, caplog):
    world.add("a")
    queued = world.pop()
    world.queue.delete(queued.pod)
    world.queue.add(pod("a", uid="another"))
    world.put_back(queued, *plugins)

    assert [found.uid for found in world.queue.pods()] == ["another"]
    assert "in the queue already" in caplog.text
    assert world.queue.in_flight_events() == {}


def test_the_same_pod_twice_is_tried_once(world, caplog):
    world.add("a")
    world.pop()
    world.queue.add(pod("a"))

    assert world.queue.pop_now() is None
    assert "tracked in multiple places" in caplog.text
    world.queue.check_invariants()


def test_invariants_see_a_pod_in_two_places(world):
    world.add("a")
    world.pop()
    world.queue.add(pod("a"))

    with pytest.raises(AssertionError, match="in flight and waiting"):
        world.queue.check_invariants()


# --- popping early -------------------------------------------------------------------------------


def test_an_empty_active_queue_lets_rejected_pods_out_early(world):
    world.fail("a", "F")
    world.happens(NODE_ADD, "a")
    assert world.place("a") == "backoff"

    assert world.pop().pod.name == "a"
    assert world.seen.entered["active", "PopFromBackoffQ"] == 1


def test_no_pod_leaves_backoff_early_while_failures_are_reported(world):
    world.fail("a", "F")
    world.happens(NODE_ADD, "a")
    world.queue.begin_report()
    world.queue.begin_report()
    assert world.queue.pop_now() is None

    world.queue.end_report()
    assert world.queue.pop_now() is None

    world.queue.end_report()
    assert world.pop().pod.name == "a"


def test_the_last_report_wakes_a_loop_that_waits(world):
    async def scene():
        world.queue.begin_report()
        waiting = asyncio.ensure_future(world.queue.pop())
        await asyncio.sleep(0)
        assert not waiting.done()
        world.queue.end_report()
        return await waiting

    world.fail("a", "F")
    world.happens(NODE_ADD, "a")

    assert asyncio.run(scene()).pod.name == "a"


def test_active_pods_come_first(world):
    world.fail("a", "F", priority=9)
    world.happens(NODE_ADD, "a")
    world.add("b")

    assert world.drain() == ["b", "a"]


def test_errors_wait_out_their_time(world):
    world.fail("a")

    assert world.pop() is None
    world.advance(1.0)
    assert world.pop() is None
    world.advance(1.0)
    assert world.pop().pod.name == "a"


# --- waiting -------------------------------------------------------------------------------------


def started(world):
    """A task that waits in ``pop``."""
    return asyncio.ensure_future(world.queue.pop())


async def turns():
    for _ in range(3):
        await give_way()


def error(world):
    world.fail("a")
    return world


def rejected(world):
    world.fail("a", "F")
    return world


WAKING = [
    pytest.param(lambda w: None, lambda w: w.add("a"), "a", id="a-new-pod"),
    pytest.param(error, lambda w: w.advance(2.0), "a", id="backoff-ends"),
    pytest.param(rejected, lambda w: w.happens(NODE_ADD, "a"), "a", id="event"),
    pytest.param(rejected, lambda w: w.queue.activate([pod("a")]), "a", id="activated"),
    pytest.param(rejected, lambda w: w.advance(330.0), "a", id="time-is-up"),
    pytest.param(lambda w: None, lambda w: w.queue.close(), None, id="closed"),
    pytest.param(lambda w: w.add(), lambda w: w.queue.update(None, pod("a")), "a", id="unseen"),
]


@pytest.mark.parametrize(("before", "wake", "expected"), WAKING)
def test_what_ends_the_wait(world, before, wake, expected):
    async def scenario():
        before(world)
        waiting = started(world)
        await turns()
        assert not waiting.done()
        wake(world)
        await turns()
        assert waiting.done()
        return waiting.result()

    found = asyncio.run(scenario())

    assert (found and found.pod.name) == expected


def test_what_is_not_to_be_popped_does_not_end_the_wait(world):
    async def scenario():
        world.fail("a")
        world.gate.closed.add("b")
        waiting = started(world)
        world.add("b")
        world.happens(NODE_ADD, "a.b")
        await turns()
        assert not waiting.done()
        world.queue.close()
        return await waiting

    assert asyncio.run(scenario()) is None


def test_closed_for_good(world):
    world.add("a")
    world.fail("b", priority=9)
    world.queue.close()
    world.clock.advance(1000.0)

    assert asyncio.run(world.queue.pop()) is None
    assert world.place("b") == "backoff", "timers are off"
