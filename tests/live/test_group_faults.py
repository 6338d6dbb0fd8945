"""Plugins that fail for a group or a member: what is said, and that nothing is held."""

import asyncio

import pytest
from msgspec.structs import replace

from podium.framework.queued_pod import QueuedPod
from podium.framework.status import SUCCESS, Status
from podium.testing.builders import pod
from tests.support.groups import PROFILE, TREES, Api, GroupWorld, composite, group, member, play

P = ("p1", "p2", "p3")


def gang(*names, **rest):
    return [member(name, cpu="1", **rest) for name in names or P]


def plugin(world, name, point):
    return next(each for each in getattr(world.core.profiles[PROFILE], point) if each.name == name)


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        pytest.param(
            Status.error("broken"), "running PlacementFeasible plugin: broken", id="an-error"
        ),
        pytest.param(
            Status.unresolvable("odd"),
            "unexpected status from PlacementFeasible plugin: UnschedulableAndUnresolvable",
            id="a-status-that-means-nothing-here",
        ),
    ],
)
@pytest.mark.parametrize("tried", [0, 1], ids=["before-any-member", "after-the-first-member"])
def test_a_plugin_that_cannot_tell_whether_the_group_may_fit(answer, what, tried):
    async def scene(world):
        world.add_nodes("n1", cpu="4")
        plugin(world, "GangScheduling", "permits").placement_feasible = lambda group, progress: (
            SUCCESS if progress.remaining > 2 - tried else answer
        )
        world.add(group(min_count=2), *gang("p1", "p2"))
        await world.settle()

        message = f"failed to evaluate placement feasibility: {what}"
        assert world.condition() == ("False", "SchedulerError", message)
        assert world.notes("p1") == world.notes("p2") == [message]
        assert not world.cluster.assumed_count

    play(scene)


def test_a_member_that_cannot_be_judged_fails_its_group():
    """It has its own error; the others have that of the group, also those that fit."""

    async def scene(world):
        world.add_nodes("n1", cpu="4")
        reserving = plugin(world, "VolumeBinding", "reserves")
        reserving.reserve = lambda state, pod, node: (
            Status.error("broken") if pod.name == "p2" else SUCCESS
        )
        world.add(group(min_count=2), *gang())
        await world.settle()

        own = 'running Reserve plugin "VolumeBinding": broken'
        of_group = f"failed to schedule other pod from a pod group: {own}"
        assert [world.notes(name) for name in P] == [[of_group], [own], [of_group]]
        assert world.condition() == ("False", "SchedulerError", of_group)
        assert not world.cluster.assumed_count

    play(scene)


def test_a_subtree_that_is_refused_when_it_is_kept_for_the_next_group():
    async def scene(world):
        world.add_nodes("n1", cpu="4")
        reserving, calls = plugin(world, "VolumeBinding", "reserves"), []
        reserving.reserve = lambda state, pod, node: (
            calls.append(pod.name) or (Status.error("broken") if len(calls) == 2 else SUCCESS)
        )
        world.add(composite(min_groups=2), *(group(name, parent="root") for name in "ab"))
        world.add(member("a1", of="a", cpu="1"), member("b1", of="b", cpu="1"))
        await world.settle()

        what = 'running Reserve plugin "VolumeBinding": broken'
        what = f"failed to assume the subtree: {what}"
        message = f"composite pod group evaluation failed due to child error: {what}"
        assert calls[:2] == ["a1", "a1"]
        assert world.condition("a") == ("False", "SchedulerError", message)
        assert not world.cluster.assumed_count

    play(scene, *TREES)


def test_an_error_of_a_post_filter_counts_as_a_rejection_in_the_queue():
    """The queue gets the status from before PodGroupPostFilter, as upstream."""

    async def scene(world):
        world.add(group(min_count=1), *gang("p1"))  # without nodes DynamicResources fails
        await world.settle()
        assert world.condition()[1] == "SchedulerError"

        [queued, *_] = [each for each, _ in world.queue.waiting()]
        assert (queued.unschedulable_count, queued.consecutive_errors) == (1, 0)

    play(scene)


def test_an_attempt_that_fails_leaves_nominations_as_they_were():
    async def scene(world):
        world.add_nodes("n1", "n2", cpu="1")
        first, *others = gang()
        nominated = replace(first, status=replace(first.status, nominated_node_name="n2"))
        known = group(min_count=3)
        world.add(known)
        members = [QueuedPod.of(one, 0.0) for one in (nominated, *others)]
        for each in members:
            world.cluster.see_member(each.pod)
            world.services.nominator.add(each.info)

        cycle = world.scheduler.start_group_cycle(world.core.profiles[PROFILE], known, members)
        result = await cycle.run()

        assert not result.status.ok
        assert [each.status.ok for each in result.members] == [True, True, False]
        assert world.services.nominator.node_of("uid-p1") == "n2"

    play(scene)


class SlowDeletions(Api):
    """Deletes a pod when ``is_open`` is set."""

    def __init__(self, world):
        super().__init__(world)
        self.is_open = asyncio.Event()

    async def delete_pod(self, subject):
        await self.is_open.wait()
        await super().delete_pod(subject)


class SlowWorld(GroupWorld):
    api_type = SlowDeletions


def test_members_wait_while_their_victims_are_being_deleted():
    async def scene():
        world = SlowWorld()
        world.queue.start()
        main = asyncio.ensure_future(world.scheduler.run())
        world.add_nodes("n1", cpu="1")
        world.add(pod("low", cpu="1", node="n1"))
        world.add(group(min_count=1, priority=5), *gang("p1", priority=5))
        await world.wait(5)
        preemption = plugin(world, "DefaultPreemption", "pre_enqueues")
        text = "waiting for the preemption for this pod group to be finished"
        assert preemption.pre_enqueue(world.pods["p1"]).message == text
        assert world.queue.queue_of("default/p1") == "gated"
        world.add_nodes("n2", cpu="4")
        await world.wait(5)
        assert not world.placed("p1")

        world.api.is_open.set()
        await world.settle()
        world.finish_deletions()
        await world.wait(5)
        assert world.placed("p1")
        world.queue.close()
        await main
        await world.tasks.cancel()

    asyncio.run(scene())
