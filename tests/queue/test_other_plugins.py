"""The queue goes on with other plugins: what the old ones held is asked about again."""

from podium import framework as fwk
from podium.queue.rules import ProfileRules
from tests.support.queue import NODE_ADD, Gate, Rejecting, World
from tests.support.toys import Toy, profile


class ByName(Toy, fwk.QueueSortPlugin):
    """The last name first."""

    def less(self, first, second):
        return first.pod.name > second.pod.name


def use(world, *plugins):
    rules = ProfileRules.of(profile(ByName("Sort"), *plugins))
    world.queue.use({"default-scheduler": rules})
    world.queue.check_invariants()


def test_pods_that_wait_get_the_new_order():
    world = World()
    world.fail("b", "F")
    world.fail("c", "F")
    world.happens(NODE_ADD, to="b.c")  # to backoff
    world.add("x", "y")
    use(world)

    assert world.places() == {"b": "backoff", "c": "backoff", "x": "active", "y": "active"}
    assert world.drain() == ["y", "x", "c", "b"]


def test_other_backoffs_count_from_the_next_failure_on():
    world = World()
    world.fail("before")  # without a rejector: an error, which is never tried early
    world.queue.use(world.queue._profiles, (40, 60))
    world.fail("after")
    world.clock.advance(30)
    assert world.places() == {"before": "active", "after": "backoff"}

    world.clock.advance(12)
    assert world.place("after") == "active"


def test_rejected_and_gated_pods_are_tried_again():
    world = World()
    world.gate.closed = {"gated"}
    world.fail("rejected", "F")
    world.add("gated")
    assert world.places() == {"rejected": "unschedulable", "gated": "gated"}
    use(world)

    assert world.places() == {"rejected": "backoff", "gated": "active"}
    assert world.seen.entered["active", "PluginsExchanged"] == 1
    assert world.seen.entered["backoff", "PluginsExchanged"] == 1


def test_new_gates_hold_what_comes_back():
    world = World()
    world.fail("rejected", "F")
    gate = Gate("New")
    gate.closed = {"rejected"}
    use(world, gate)

    assert world.place("rejected") == "gated"


def test_pods_in_flight_are_tried_again_when_they_come_back():
    world = World()
    world.add("web")
    queued = world.pop()
    use(world, Rejecting("F"))
    world.put_back(queued, "F")

    assert world.place("web") == "backoff"


def test_new_hints_are_asked():
    world = World()
    use(world, Rejecting("New"))
    world.fail("web", "New")
    world.happens(NODE_ADD, to="other")
    assert world.place("web") == "unschedulable"
    world.happens(NODE_ADD, to="web")
    assert world.place("web") == "backoff"
