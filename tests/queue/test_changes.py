"""Pods that change or go while they wait, and the nominations that follow them."""

import pytest

from podium import framework as fwk
from podium.framework.status import Nominate
from podium.testing.builders import pod
from tests.support.queue import (
    AS_1_36,
    DEFAULTS,
    NODE_ADD,
    Rejecting,
    World,
    is_its_own,
    waiting_for,
)


@pytest.fixture
def world():
    return World()


def put(world, place, name="a", **rest):
    """A pod in this place."""
    match place:
        case "active":
            world.add(name, **rest)
        case "backoff":
            world.fail(name, "F", **rest)
            world.happens(NODE_ADD, name)
        case "failed":
            world.fail(name, **rest)
        case "unschedulable":
            world.fail(name, "F", **rest)
        case "gated":
            world.gate.closed.add(name)
            world.add(name, **rest)
            world.gate.closed.clear()
    expected = "backoff" if place == "failed" else place
    assert world.place(name) == expected


PLACES = ("active", "backoff", "failed", "unschedulable", "gated")
every_place = pytest.mark.parametrize("place", PLACES)


@every_place
def test_update_replaces_the_pod_where_it_is(world, place):
    put(world, place)
    before = world.place("a")
    new = pod("a", labels="l=x")
    world.queue.update(pod("a"), new)

    (queued,) = world.queue.pods()
    assert queued.pod is new
    assert world.place("a") == before
    world.queue.check_invariants()


@every_place
def test_delete(world, place):
    put(world, place, status={"nominated_node_name": "n1"})
    world.queue.delete(pod("a"))

    assert world.queue.pods() == []
    assert len(world.nominator) == 0
    world.queue.check_invariants()


def test_delete_unknown(world):
    world.queue.delete(pod("a"))

    assert world.queue.pods() == []


@every_place
def test_delete_of_an_earlier_pod_of_the_name(world, place):
    put(world, place, uid="second")
    world.queue.delete(pod("a", uid="first"))

    assert [queued.uid for queued in world.queue.pods()] == ["second"]


@every_place
@pytest.mark.parametrize("way", ["add", "update"])
def test_another_pod_of_the_name_starts_afresh(world, place, way):
    put(world, place, status={"nominated_node_name": "n1"})
    new = pod("a", uid="another")
    world.queue.add(new) if way == "add" else world.queue.update(pod("a"), new)

    (queued,) = world.queue.pods()
    assert (queued.pod, queued.attempts, world.place("a")) == (new, 0, "active")
    assert len(world.nominator) == 0
    world.queue.check_invariants()


def test_priority_changes_the_order(world):
    world.add("a", "b")
    world.queue.update(pod("b"), pod("b", priority=1))
    world.queue.check_invariants()

    assert world.drain() == ["b", "a"]


def test_an_update_keeps_the_place_among_equals(world):
    world.add("a", "b")
    world.queue.update(pod("a"), pod("a", labels="l=x"))

    assert world.drain() == ["a", "b"]


@pytest.mark.parametrize(
    ("options", "event"),
    [
        pytest.param(DEFAULTS, "UnscheduledPodAdd", id="1.37"),
        pytest.param(AS_1_36, "UnschedulablePodUpdate", id="1.36"),
    ],
)
def test_an_unknown_pod_is_new(options, event):
    world = World(options=options)
    world.queue.update(pod("a"), pod("a", labels="l=x"))

    assert world.place("a") == "active"
    assert world.seen.entered == {("active", event): 1}


@pytest.mark.parametrize(
    ("plugin", "change", "place"),
    [
        pytest.param("F2", {"labels": "l=x"}, "backoff", id="what-its-plugin-waits-for"),
        pytest.param("F", {"labels": "l=x"}, "unschedulable", id="another-plugin-waits-for-that"),
        pytest.param("F2", {"tolerates": "k:"}, "unschedulable", id="something-else"),
        pytest.param("F2", {"annotations": {"k": "v"}}, "unschedulable", id="nothing-that-counts"),
    ],
)
def test_its_own_update_may_help(world, plugin, change, place):
    world.fail("a", plugin)
    world.queue.update(pod("a"), pod("a", **change))
    world.queue.check_invariants()

    assert world.place("a") == place


def test_anothers_update_does_not(world):
    world.fail("a", "F2")
    world.fail("b", "F2")
    world.queue.update(pod("b"), pod("b", labels="l=x"))

    assert world.places() == {"a": "unschedulable", "b": "backoff"}


@pytest.mark.parametrize(
    ("options", "event"),
    [
        pytest.param(DEFAULTS, "TargetPodUpdatePodToleration", id="1.37"),
        pytest.param(AS_1_36, "UnschedulablePodUpdatePodToleration", id="1.36"),
    ],
)
@pytest.mark.parametrize("kind", ["Pod", "TargetPod"])
def test_one_of_several_changes_is_enough(options, event, kind):
    tolerant = waiting_for(Rejecting("T"), fwk.on(kind, "toleration", hint=is_its_own))
    world = World(tolerant, options=options)
    world.fail("a", "T")
    world.queue.update(pod("a"), pod("a", labels="l=x", tolerates="k:"))

    assert world.seen.entered["backoff", event] == 1
    assert world.place("a") == "backoff"


def test_several_changes_move_it_once():
    both = fwk.on("Pod", "label|toleration", hint=is_its_own)
    world = World(waiting_for(Rejecting("T"), both))
    world.fail("a", "T")
    world.queue.update(pod("a"), pod("a", labels="l=x", tolerates="k:"))

    assert world.seen.entered["backoff", "TargetPodUpdatePodLabel"] == 1
    assert world.seen.entered["backoff", "TargetPodUpdatePodToleration"] == 0


def test_a_gated_pods_own_update_opens_it_whatever_its_gate_registered(world):
    """The gate waits for deletions; F2, which rejected the pod before, for labels."""
    world.fail("a", "F2")
    world.advance(2.0)
    put_at_gate(world)
    world.gate.closed.clear()
    world.queue.update(pod("a"), pod("a", labels="l=x"))

    assert world.place("a") == "active"


def put_at_gate(world):
    world.gate.closed.add("a")
    world.queue.activate([pod("a")])
    assert world.place("a") == "gated"


@pytest.mark.parametrize(
    ("labels", "place"),
    [
        pytest.param("l=x", "backoff", id="helps"),
        pytest.param("", "unschedulable", id="does-not-help"),
    ],
)
def test_updated_in_flight(world, labels, place):
    world.add("a")
    queued = world.pop()
    new = pod("a", labels=labels, annotations={"k": "v"})
    world.queue.update(pod("a"), new)

    assert world.places() == {}
    assert queued.pod == pod("a"), "the attempt goes on with what it knows"
    queued.replace(new)
    world.put_back(queued, "F2")
    assert world.place("a") == place


# --- nominations ---------------------------------------------------------------------------------


def nominated(name="a", node="n1", **rest):
    return pod(name, status={"nominated_node_name": node} if node else {}, **rest)


def test_a_new_pod_brings_its_nomination(world):
    world.queue.add(nominated())

    assert world.nominator.node_of("uid-a") == "n1"


@pytest.mark.parametrize(
    ("options", "expected"),
    [pytest.param(DEFAULTS, "n1", id="1.37"), pytest.param(AS_1_36, None, id="1.36")],
)
def test_whether_gated_pods_are_nominated(options, expected):
    world = World(options=options)
    world.gate.closed.add("a")
    world.queue.add(nominated())

    assert world.nominator.node_of("uid-a") == expected


@every_place
@pytest.mark.parametrize(
    ("known", "old", "new", "expected"),
    [
        pytest.param("n1", "", "", "n1", id="known-only-here-is-kept"),
        pytest.param("n1", "n1", "", None, id="taken-back"),
        pytest.param("n1", "n1", "n2", "n2", id="changed"),
        pytest.param("n1", "", "n2", "n2", id="given"),
        pytest.param(None, "", "", None, id="none"),
    ],
)
def test_updates_of_nominations(world, place, known, old, new, expected):  # noqa: PLR0913  # a table
    put(world, place)
    (queued,) = world.queue.pods()
    if known is not None:
        world.nominator.add(queued.info, Nominate(known))
    world.queue.update(nominated(node=old), nominated(node=new, annotations={"k": "v"}))

    assert world.nominator.node_of("uid-a") == expected


def test_events_do_not_touch_nominations(world):
    queued = world.fail("a", "F")
    world.nominator.add(queued.info, Nominate("n1"))
    world.advance(2.0)
    world.happens(NODE_ADD, "a")

    assert world.place("a") == "active"
    assert world.nominator.node_of("uid-a") == "n1"


def test_in_flight_nominations_stay(world):
    world.queue.add(nominated())
    world.pop()
    world.queue.update(nominated(), nominated(node="n2"))

    assert world.nominator.node_of("uid-a") == "n1"


def test_nominated_pods_are_known_as_they_are_now(world):
    world.queue.add(nominated())
    new = nominated(priority=7)
    world.queue.update(nominated(), new)

    assert [info.pod for info in world.nominator.on("n1")] == [new]
