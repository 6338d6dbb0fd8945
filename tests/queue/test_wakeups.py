"""What wakes an unschedulable pod, and what leaves it alone."""

import pytest

from podium import framework as fwk
from podium.framework.events import Topic
from podium.queue.options import QueueOptions
from podium.testing.builders import pod
from tests.support.queue import (
    ANYTHING,
    AS_1_36,
    BROKEN,
    NODE_ADD,
    NODE_LABEL,
    NODE_TAINT,
    POD_ADD,
    Rejecting,
    World,
    helps,
    waiting_for,
)


@pytest.fixture
def world():
    return World()


@pytest.mark.parametrize(
    ("plugins", "event", "to", "place"),
    [
        pytest.param("F", NODE_ADD, "a", "backoff", id="the-hint-says-yes"),
        pytest.param("F", NODE_ADD, "b", "unschedulable", id="the-hint-says-no"),
        pytest.param("F", NODE_LABEL, "a", "unschedulable", id="only-another-plugin-listens"),
        pytest.param("F F2", NODE_LABEL, "a", "backoff", id="one-of-two-listens"),
        pytest.param("F", NODE_TAINT, "", "unschedulable", id="new-nodes-only"),
        pytest.param("F", NODE_ADD, "broken", "backoff", id="a-broken-hint-means-yes"),
        pytest.param("F", POD_ADD, "a", "unschedulable", id="nobody-listens"),
        pytest.param("F", ANYTHING, "", "unschedulable", id="wildcard-for-another-object"),
    ],
)
def test_events(world, plugins, event, to, place):
    world.fail("a", *plugins.split())
    world.happens(event, to)

    assert world.place("a") == place


def test_in_1_36_who_waits_for_nodes_waits_for_their_taints():
    world = World(options=AS_1_36)
    world.fail("a", "F")
    world.happens(NODE_TAINT)

    assert world.place("a") == "backoff"


def test_a_wildcard_for_nobody_is_for_all(world):
    world.fail("a", "F")
    world.fail("b", "F")
    world.queue.on_event(ANYTHING, None, None)

    assert world.places() == {"a": "backoff", "b": "backoff"}


@pytest.mark.parametrize(
    ("event", "place"),
    [
        pytest.param(NODE_ADD, "active", id="the-pending-plugin-says-yes"),
        pytest.param(NODE_LABEL, "backoff", id="only-the-other-says-yes"),
    ],
)
def test_a_pending_plugin_skips_the_backoff(world, event, place):
    world.fail("a", "F2", pending=["P"])
    world.happens(event, "a")

    assert world.place("a") == place


def test_after_its_backoff_a_pod_is_active_at_once(world):
    world.fail("a", "F")
    world.advance(2.0)
    world.happens(NODE_ADD, "a")

    assert world.place("a") == "active"


def test_a_broken_hint_is_logged(world, caplog):
    world.fail("a", "F")
    world.happens(NODE_ADD, "broken")

    (entry,) = [entry for entry in caplog.records if "queueing hint raised" in entry.getMessage()]
    assert entry.exc_info[1] is BROKEN
    assert ("F", "NodeAdd", "Error") in world.seen.hinted


def is_broken(*_):
    raise BROKEN


@pytest.mark.parametrize(
    "topic",
    [
        pytest.param(Topic(is_broken, lambda pod: ["b"]), id="of-a-change"),
        pytest.param(Topic(lambda old, new: ["a"], is_broken), id="of-a-pod"),
    ],
)
def test_a_broken_topic_leaves_nobody_out(topic, caplog):
    waiting = waiting_for(Rejecting("T"), fwk.on("Node", "add", hint=helps, topic=topic))
    world = World(waiting)
    world.fail("a", "T")
    world.happens(NODE_ADD, "a")

    assert world.place("a") == "backoff"
    assert "plugin cannot name the subjects" in caplog.text


def test_only_those_who_rejected_the_pod_are_asked(world):
    world.fail("a", "F")
    world.fail("b", "F2")
    world.happens(NODE_ADD, "")

    assert world.seen.hinted == [("F", "NodeAdd", "QueueSkip"), ("F2", "NodeAdd", "QueueSkip")]


@pytest.mark.parametrize(
    ("whom", "woken"),
    [
        pytest.param({}, {"a", "b"}, id="all"),
        pytest.param({"except_uid": "uid-a"}, {"b"}, id="all-but-one"),
        pytest.param({"max_priority": 0}, {"a"}, id="low-priorities"),
        pytest.param({"max_priority": 1}, {"a", "b"}, id="up-to-and-including"),
        pytest.param({"max_priority": -1}, set(), id="none-low-enough"),
    ],
)
def test_whom_an_event_is_for(world, whom, woken):
    world.fail("a", "F")
    world.fail("b", "F", priority=1)
    world.happens(NODE_ADD, "a.b", **whom)

    assert {name for name, place in world.places().items() if place == "backoff"} == woken


@pytest.mark.parametrize("whom", [{"except_uid": "uid-a"}, {"max_priority": -1}])
def test_in_flight_everyone_is_asked(world, whom):
    world.add("a")
    queued = world.pop()
    world.happens(NODE_ADD, "a", **whom)
    world.put_back(queued, "F")

    assert world.place("a") == "backoff"


# --- activate ------------------------------------------------------------------------------------


def test_activate_from_anywhere(world):
    world.fail("held", "F")
    world.fail("failed")
    world.queue.activate([pod("held"), pod("failed"), pod("unknown")])

    assert world.places() == {"held": "active", "failed": "active"}
    assert world.seen.entered["active", "ForceActivate"] == 2


def test_activating_stops_at_gates_only_before_backoff(world):
    world.fail("held", "F")
    world.fail("failed")
    world.gate.closed.update(("held", "failed"))
    world.queue.activate([pod("held"), pod("failed")])

    assert world.places() == {"held": "gated", "failed": "active"}


@pytest.mark.parametrize(
    ("activated", "place"),
    [
        pytest.param("a", "backoff", id="it"),
        pytest.param("b", "unschedulable", id="another-in-flight"),
        pytest.param("unknown", "unschedulable", id="nobody"),
    ],
)
def test_activating_in_flight_counts_afterwards(world, activated, place):
    world.add("a", "b")
    queued, _ = world.pop(), world.pop()
    world.queue.activate([pod(activated)])
    assert world.queue.in_flight_events()["ForceActivate"] == (activated != "unknown")
    world.put_back(queued, "F")

    assert world.place("a") == place


# --- time ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "place"),
    [
        pytest.param(300.0, "unschedulable", id="exactly-five-minutes"),
        pytest.param(329.75, "unschedulable", id="until-the-next-half-minute"),
        pytest.param(330.0, "active", id="then"),
    ],
)
def test_pods_are_not_forgotten(world, seconds, place):
    queued = world.fail("a", "F")
    world.advance(seconds)

    assert world.place("a") == place
    assert queued.was_flushed is (place == "active")
    assert world.seen.entered["active", "UnschedulableTimeout"] == (place == "active")


def test_a_failure_ends_being_flushed(world):
    world.fail("a", "F")
    world.advance(330.0)
    queued = world.pop()
    world.put_back(queued, "F")

    assert (queued.was_flushed, queued.flushed_at) == (False, 0.0)


def test_a_flush_is_for_pods_in_flight_too(world):
    """As upstream: whatever was missed may concern them."""
    world.fail("a", "F")
    world.add("b")
    queued = world.pop()
    world.advance(330.0)
    world.put_back(queued, "F")

    assert world.place("b") == "backoff"


def test_without_leftovers_pods_in_flight_hear_nothing(world):
    world.add("b")
    queued = world.pop()
    world.fail("young", "F")
    world.advance(270.0)
    world.put_back(queued, "F")

    assert world.place("b") == "unschedulable"


def test_how_long_is_an_option():
    world = World(options=QueueOptions(max_in_unschedulable=20.0))
    world.fail("a", "F")
    world.advance(30.0)

    assert world.place("a") == "active"


def test_backoff_options():
    world = World(options=QueueOptions(initial_backoff=60.0, max_backoff=90.0))
    queued = world.fail("a")
    world.advance(60.0)
    assert world.place("a") == "backoff"
    world.advance(1.0)
    assert world.place("a") == "active"
    assert world.pop() is queued
    world.put_back(queued)
    world.advance(90.0)
    assert world.place("a") == "backoff"
    world.advance(1.0)
    assert world.place("a") == "active"


def test_an_idle_queue_has_no_timers(world):
    assert world.clock.until_next() is None
    world.fail("a", "F")
    assert world.clock.until_next() == 30.0
    world.queue.delete(pod("a"))
    world.advance(30.0)
    assert world.clock.until_next() is None
