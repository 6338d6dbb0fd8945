"""Pod groups in the queue: entities, incomplete and returning members, gates and backoff."""

import math

import pytest

from podium.framework.queued_pod_group import QueuedPodGroup
from podium.framework.status import SUCCESS, Status
from podium.testing.builders import pod
from tests.support.groups import GroupWorld, group, member

REJECTED = Status.unschedulable("no")
GATE = [{"name": "wait"}]


@pytest.fixture
def world():
    made = GroupWorld()
    yield made
    made.check()


def queues(world, *names):
    return [world.queue.queue_of(f"default/{name}") for name in names]


def fail(world, queued, status=REJECTED):
    """Return all members, and then the group."""
    for one in list(queued.members):
        one.rejected_by()
        world.queue.put_back(one)
    world.queue.put_back_group(queued, status)


def test_members_are_popped_together_by_attempts_time_and_name(world):
    world.add(group(min_count=2))
    for name in ("b", "a", "c"):
        world.add(member(name))

    queued = world.queue.pop_now()

    assert isinstance(queued, QueuedPodGroup)
    assert [one.pod.name for one in queued.members] == ["a", "b", "c"]
    assert [one.attempts for one in queued.members] == [1, 1, 1]
    assert world.queue.pop_now() is None


def test_members_wait_apart_until_their_group_is_known(world):
    world.add(member("a"), member("b"))
    assert world.queue.pending().incomplete == 2
    assert world.queue.pop_now() is None

    world.add(group())

    assert queues(world, "a", "b") == ["active", "active"]
    assert world.queue.pending().incomplete == 0


def test_a_gated_member_parks_its_group(world):
    world.add(group(), member("a"))
    assert queues(world, "a") == ["active"]

    world.add(member("b", scheduling_gates=GATE))
    assert queues(world, "a", "b") == ["gated", "gated"]

    world.add(member("b", scheduling_gates=[]))
    assert queues(world, "a", "b") == ["active", "active"]


def test_groups_are_ordered_by_their_own_priority(world):
    world.add(group("low", priority=1), group("high", priority=5))
    world.add(member("a", of="low", priority=1), pod("p", priority=3))
    world.add(member("b", of="high", priority=5))

    popped = [world.queue.pop_now().key for _ in range(3)]

    assert popped == ["podgroup/default/high", "default/p", "podgroup/default/low"]


@pytest.mark.parametrize(("members", "longest"), [(1, 10.0), (4, 20.0), (9, 30.0)])
def test_backoff_grows_with_the_root_of_the_size(world, members, longest):
    world.add(group(), *(member(f"p{i}") for i in range(members)))
    for count in range(1, 8):
        queued = world.queue.pop_now()
        fail(world, queued)
        [backing_off] = world.queue._backoff
        assert backing_off.unschedulable_count == count
        assert world.queue._backoff.duration(backing_off) == min(2.0 ** (count - 1), longest)
        world.clock.advance(math.ceil(longest) + 2)
        world.queue._flush_backoff()


def test_after_a_success_the_rest_is_tried_at_once_and_in_turn(world):
    world.add(group(), member("a"), member("b"))
    queued = world.queue.pop_now()
    before = queued.timestamp
    world.clock.advance(5)
    placed, left = queued.members
    world.queue.done(placed.uid)
    left.rejected_by({"NodeResourcesFit"})
    world.queue.put_back(left)
    world.queue.put_back_group(queued, SUCCESS)

    again = world.queue.pop_now()

    assert [one.pod.name for one in again.members] == ["b"]
    assert again.timestamp == before
    assert again.unschedulable_count == 0


def test_a_member_that_is_tried_already_is_left_out_of_the_attempt(world):
    """Permit activates members; an attempt of one of them may not have ended yet."""
    world.add(group(), member("a"), member("b"))
    world.queue._in_flight.start("uid-a")

    queued = world.queue.pop_now()

    assert [one.pod.name for one in queued.members] == ["b"]
    world.queue.done("uid-a")


def test_an_error_counts_apart(world):
    world.add(group(), member("a"))
    fail(world, world.queue.pop_now(), Status.error("broken"))

    [backing_off] = world.queue._backoff

    assert (backing_off.consecutive_errors, backing_off.unschedulable_count) == (1, 0)


def test_a_pod_that_arrives_during_the_attempt_returns_with_the_group(world):
    world.add(group(), member("a"))
    queued = world.queue.pop_now()
    world.add(member("b"))
    assert world.queue.pending().pending == 1

    fail(world, queued)

    assert queues(world, "a", "b") == ["backoff", "backoff"]


def test_a_group_that_is_deleted_leaves_its_pods_waiting_for_another(world):
    world.add(group(), member("a"), member("b"))
    world.delete_group("gang")
    assert world.queue.pending().incomplete == 2

    world.add(group(min_count=2))

    assert queues(world, "a", "b") == ["active", "active"]


def test_a_group_that_is_deleted_during_the_attempt(world):
    world.add(group(), member("a"))
    queued = world.queue.pop_now()
    world.delete_group("gang")
    fail(world, queued)

    assert world.queue.pending().incomplete == 1


def test_the_last_member_takes_the_group_with_it(world):
    world.add(group(), member("a"))
    world.delete_pod("a")

    assert world.queue.pending().total == 0


def test_a_pod_is_deleted_and_created_again(world):
    world.add(group(), member("a"), member("b"))
    world.delete_pod("a")
    world.add(member("a", uid="another"))

    queued = world.queue.pop_now()

    assert sorted(one.uid for one in queued.members) == ["another", "uid-b"]


def test_a_lower_min_count_wakes_a_gang(world):
    world.add(group(min_count=3), member("a"))
    assert queues(world, "a") == ["gated"]

    world.add(group(min_count=1))

    assert queues(world, "a") == ["active"]


def test_activating_one_member_activates_the_group(world):
    world.add(group(), member("a"), member("b"))
    fail(world, world.queue.pop_now())
    assert queues(world, "a") == ["backoff"]

    world.queue.activate([world.pods["b"]])

    assert queues(world, "a", "b") == ["active", "active"]


def test_a_group_is_not_popped_early_from_backoff(world):
    world.add(group(), member("a"))
    fail(world, world.queue.pop_now())

    assert world.queue.pop_now() is None


def test_entities_are_counted_by_type(world):
    world.add(group(), member("a"), member("b"), pod("p"), group("big", min_count=9))
    world.add(member("c", of="big"))

    counts = world.queue.entities()
    assert len(counts) == 8  # those without any entities are 0
    assert {labels: n for labels, n in counts.items() if n} == {
        ("active", "podgroup"): 1,
        ("active", "pod"): 1,
        ("gated", "podgroup"): 1,
    }
    assert world.queue.pending()._asdict() == {
        "active": 3, "backoff": 0, "unschedulable": 0, "gated": 1, "incomplete": 0, "pending": 0
    }  # fmt: skip


def test_groups_are_counted_as_they_change_queues(world):
    """Not where a group went as its hints say, as upstream."""
    world.add(group(min_count=2), member("a"))
    world.add(member("b"))
    fail(world, world.queue.pop_now())

    found = world.metrics._entities()

    assert {labels: n for labels, n in found.items() if labels[2] == "podgroup"} == {
        ("unschedulable", "UnscheduledPodAdd", "podgroup"): 1,
        ("active", "UnscheduledPodAdd", "podgroup"): 1,
        ("backoff", "ScheduleAttemptFailure", "podgroup"): 1,
    }


def test_the_dump_names_the_parts_of_groups(world):
    world.add(member("a"))

    assert str(world.queue.pending()) == (
        "activeQ:0; backoffQ:0; unschedulableEntities:0; "
        "pendingPodGroupMemberPods:0; incompletePodGroupPods:1"
    )


def test_without_popping_early_a_group_waits_like_any_pod():
    world = GroupWorld("SchedulerPopFromBackoffQ=false")
    world.add(group(), member("a"))
    fail(world, world.queue.pop_now())
    world.clock.advance(2)
    world.queue._flush_backoff()

    assert isinstance(world.queue.pop_now(), QueuedPodGroup)


def test_inspection_shows_members_where_their_group_is(world):
    world.add(group(min_count=2), member("a"))

    shown = world.queue.inspection.of_pod("default/a")

    assert (shown.queue, shown.gated_by) == ("gated", "GangScheduling")
    assert [one.pod for one in world.queue.inspection.first(5)] == ["default/a"]


def test_a_group_goes_on_when_the_pod_that_held_it_back_is_deleted(world):
    world.add(group(), member("a"), member("b", scheduling_gates=GATE))
    assert queues(world, "a") == ["gated"]

    world.delete_pod("b")

    assert queues(world, "a") == ["active"]


def test_members_whose_bindings_failed_pause_with_their_group(world):
    """Otherwise a gang would be tried, and fail, as fast as bindings fail."""
    world.queue.start()
    world.add(group(min_count=2), member("a"), member("b"))
    for pause in (1, 2, 4):
        queued = world.queue.pop_now()
        world.queue.put_back_group(queued, SUCCESS)
        for one in queued.members:
            one.rejected_by()
            world.queue.put_back(one)
        assert queues(world, "a", "b") == ["backoff", "backoff"]

        world.clock.advance(pause - 0.5)
        assert world.queue.pop_now() is None
        world.clock.advance(1.5)


def test_a_new_pod_joins_a_group_that_pauses_and_does_not_wake_it(world):
    world.add(group(min_count=1), member("a"))
    queued = world.queue.pop_now()
    world.queue.put_back_group(queued, SUCCESS)
    [failed] = queued.members
    failed.rejected_by()
    world.queue.put_back(failed)
    world.add(member("b"))

    assert queues(world, "a", "b") == ["backoff", "backoff"]
