"""Groups that can never be placed, or change in mid-flight: what is said, and others go on."""

import asyncio

import pytest

from podium.testing.builders import pod
from tests.support.group_machine import Watched
from tests.support.groups import group, member, play

P = ("p1", "p2", "p3")


def gang(*names, **rest):
    return [member(name, cpu="1", **rest) for name in names or P]


def nodes(world, count):
    world.add_nodes(*(f"n{i}" for i in range(count)), cpu="1")


def gang_attempts(world):
    return sum(world.metrics.groups.attempts.series().values())


def test_a_group_that_never_gets_its_pods_is_not_tried():
    async def scene(world):
        nodes(world, 3)
        world.add(group(min_count=3), *gang("p1", "p2"), *gang("lost", of="nowhere"))
        for _ in range(20):
            await world.wait(60)
        world.add(pod("single", cpu="1"))
        await world.settle()

        assert gang_attempts(world) == 0
        assert world.queue.queue_of("default/p1") == "gated"
        assert world.queue.pending().incomplete == 1  # the pod without a group
        assert world.placed("p1", "p2", "lost", "single") == {"single"}

    play(scene)


def test_single_pods_wait_for_one_attempt_of_a_gang_that_cannot_fit():
    """The gang changes every second, so that it is tried as often as can be."""

    async def scene(world):
        nodes(world, 30)
        world.add(group(min_count=40), *gang(*(f"g{i}" for i in range(40))))
        await world.settle()
        most = 0
        for second in range(30):
            world.delete_pod(f"g{second}")
            world.add(*gang(f"new{second}"))
            before = gang_attempts(world)
            world.add(pod(f"single{second}", cpu="1"))
            await world.wait(1)
            assert world.placed(f"single{second}"), "within the second"
            most = max(most, gang_attempts(world) - before)
        assert most <= 1

    play(scene)


SAME = "all pods in a single pod group should have the same"


@pytest.mark.parametrize(
    ("other", "message"),
    [
        pytest.param({"scheduler_name": "other"},
                     f'{SAME} .spec.schedulerName set, got: "other" and "default-scheduler"',
                     id="scheduler"),
        pytest.param({"priority": 7},
                     f"{SAME} priority as the pod group's priority, got 7 and 0", id="priority"),
        pytest.param({"preemption_policy": "Never"},
                     f"{SAME} preemption policy, got Never and PreemptLowerPriority", id="policy"),
    ],
)  # fmt: skip
def test_a_running_member_that_differs_is_an_error_until_it_leaves(other, message):
    async def scene(world):
        nodes(world, 4)
        world.add(group(min_count=3), *gang("odd", node="n0", **other), *gang())
        world.add(pod("single", cpu="1"))
        await world.settle()
        assert world.condition() == ("False", "SchedulerError", message)
        assert world.placed(*P, "single") == {"single"}

        world.delete_pod("odd")
        await world.wait(5)
        assert world.placed(*P) == set(P)

    play(scene)


def test_a_member_of_another_scheduler_does_not_make_a_gang_complete():
    async def scene(world):
        nodes(world, 3)
        world.add(group(min_count=3), *gang("p1", "p2"), *gang("p3", scheduler_name="other"))
        await world.wait(60)
        assert not world.placed(*P)
        assert not world.cluster.assumed_count

        world.add(*gang("p4"))
        await world.wait(5)
        assert world.placed("p1", "p2", "p4") == {"p1", "p2", "p4"}

    play(scene)


# --- in mid-flight --------------------------------------------------------------------------------


def shrink(world):
    world.add(group(min_count=1))


def recreate(world):
    world.delete_group("gang")
    world.add(group(min_count=3))


@pytest.mark.parametrize(
    ("change", "placed"),
    [
        pytest.param(lambda world: world.delete_group("gang"), set(P), id="deleted"),
        pytest.param(recreate, set(P), id="recreated"),
        pytest.param(shrink, set(P), id="shrunk"),
        pytest.param(lambda world: world.delete_pod("p2"), {"p1", "p3"}, id="a-member-leaves"),
    ],
)
def test_members_that_were_let_go_are_bound_whatever_becomes_of_the_group(change, placed):
    async def scene():
        world = Watched()
        world.queue.start()
        main = asyncio.ensure_future(world.scheduler.run())
        nodes(world, 3)
        world.api.is_open.clear()
        world.add(group(min_count=3), *gang())
        await world.settle()
        assert world.cluster.assumed_count == 3

        change(world)
        await world.settle()
        world.api.is_open.set()
        await world.settle()

        assert world.placed(*P) == placed
        assert not world.cluster.assumed_count
        assert not len(world.services.waiting_pods)
        world.queue.close()
        await main
        await world.tasks.cancel()

    asyncio.run(scene())
