"""Gangs and basic groups through the whole scheduler: the worked examples of Kubernetes 1.37."""

import pytest

from podium.testing.builders import pod
from tests.support.groups import group, member, play

P = ("p1", "p2", "p3")
NO_FIT = "0/1 nodes are available: 1 Insufficient cpu."
NOT_FOUND = 'error in "DynamicResources" PodGroupPostFilter plugins: not found'
FEW = "minCount (3) cannot be satisfied: 1 scheduled, 1 remaining"
NO_VICTIMS = "pod group preemption: No preemption victims found for incoming preemptor"


def one_pod_nodes(world, count):
    """Nodes with room for one pod of 1 cpu each."""
    world.add_nodes(*(f"n{i}" for i in range(count)), cpu="1")


def gang(*names, **rest):
    return [member(name, cpu="1", **rest) for name in names or P]


# --- E1, E2, E4, E5 -------------------------------------------------------------------------------


def test_a_gang_is_placed_when_its_last_pod_arrives():
    async def scene(world):
        one_pod_nodes(world, 3)
        world.add(group(min_count=3))
        for one in gang()[:2]:
            world.add(one)
            await world.settle()
            assert world.queue.queue_of(one.key) == "gated"
        assert not world.placed(*P)

        world.add(gang()[2])
        await world.settle()

        assert world.placed(*P) == set(P)
        assert world.condition() == ("True", "Scheduled", "")
        assert [len(world.notes(name, "Scheduled")) for name in P] == [1, 1, 1]
        assert not len(world.services.waiting_pods)
        # The last member allowed the others at once: no expected node was worth a write.
        assert {world.pods[name].nominated_node_name for name in P} == {""}

    play(scene)


def test_a_gang_that_does_not_fit_says_why_and_holds_nothing():
    async def scene(world):
        one_pod_nodes(world, 1)
        world.add(group(min_count=3), *gang())
        await world.settle()

        assert world.notes("p1") == [f"pod group is unschedulable, {FEW}, {NO_VICTIMS}"]
        assert world.notes("p2") == [NO_FIT]
        assert world.notes("p3") == [FEW]
        assert world.condition() == ("False", "Unschedulable", f"{FEW}, {NO_VICTIMS}")
        assert [world.why(name) for name in P] == [world.notes(name)[0] for name in P]
        assert not world.placed(*P)
        assert not world.cluster.assumed_count
        assert not len(world.services.nominator)
        assert world.queue.queue_of("default/p1") == "backoff"

    play(scene)


def test_members_of_a_basic_group_that_fit_run_and_the_others_wait():
    async def scene(world):
        one_pod_nodes(world, 1)
        world.add(group(), *gang())
        await world.settle()

        assert world.placed(*P) == {"p1"}
        assert world.condition() == ("True", "Scheduled", "")
        # The second attempt comes at once, and could preempt.
        assert world.notes("p2") == world.notes("p3") == [NO_FIT, NO_FIT]
        assert world.queue.queue_of("default/p2") == "backoff"

    play(scene)


def test_a_lower_min_count_lets_a_gang_run():
    async def scene(world):
        one_pod_nodes(world, 1)
        world.add(group(min_count=3), *gang("p1"))
        await world.settle()
        assert not world.placed("p1")

        world.add(group(min_count=1))
        await world.settle()

        assert world.placed("p1") == {"p1"}

    play(scene)


# --- E3 and other preemptions ---------------------------------------------------------------------

FOUND = "pod group preemption: found a placement for podgroup, preempting 2 victims"


def victims(**rest):
    return [pod(f"low{i}", cpu="1", priority=1, node=f"n{i}", **rest) for i in (1, 2)]


def test_a_gang_evicts_just_enough_pods_of_lower_priority():
    async def scene(world):
        one_pod_nodes(world, 4)
        world.add(*victims(), pod("boss", cpu="1", priority=9, node="n3"))
        world.add(group(min_count=3, priority=5), *gang(priority=5))
        await world.settle()

        assert world.notes("p1") == [f"{FEW}, {FOUND}"]
        assert world.notes("p2") == ["0/4 nodes are available: 4 Insufficient cpu."]
        assert world.notes("p3") == [FEW]
        assert world.condition() == ("False", "Unschedulable", f"{FEW}, {FOUND}")
        leaving = {name for name, one in world.pods.items() if one.is_terminating}
        assert leaving == {"low1", "low2"}
        assert {world.pods[name].nominated_node_name for name in P} == {"n0", "n1", "n2"}
        [note] = world.notes("low1", "Preempted")
        assert note == "Preempted by podgroup uid-group-gang on node cluster"

        world.finish_deletions()
        await world.wait(3)

        assert world.placed(*P) == set(P)
        assert world.condition() == ("True", "Scheduled", "")

    play(scene)


def test_while_victims_leave_nobody_else_is_evicted():
    async def scene(world):
        one_pod_nodes(world, 3)
        world.add(*victims())
        world.add(group(min_count=3, priority=5), *gang(priority=5))
        await world.settle()
        world.queue.activate([world.pods["p1"]])
        await world.settle()

        ongoing = "pod group preemption: ongoing preemption on nominated nodes"
        assert world.condition()[2].endswith(ongoing)
        assert len([one for one in world.api.writes if one[0] == "delete"]) == 2

    play(scene)


def test_nobody_is_evicted_for_a_gang_that_would_not_fit_then_either():
    async def scene(world):
        one_pod_nodes(world, 2)
        world.add(*victims()[:1])
        world.add(group(min_count=3, priority=5), *gang(priority=5))
        await world.settle()

        few = "minCount (3) cannot be satisfied: 2 scheduled, 0 remaining"
        released = "deallocation and deletion of ResourceClaims completed"
        assert world.condition()[2] == f"{FEW}, {released}, pod group preemption: {few}"
        assert not any(one.is_terminating for one in world.pods.values())

    play(scene)


@pytest.mark.parametrize(
    ("victim", "preemptor", "expected"),
    [
        pytest.param({"priority": 5}, {}, NO_VICTIMS, id="same-priority"),
        pytest.param({"priority": 1}, {"preemption_policy": "Never"},
                     "deallocation and deletion of ResourceClaims completed, "
                     "pod group preemption: not eligible due to preemptionPolicy=Never.",
                     id="never"),
    ],
)  # fmt: skip
def test_who_may_not_preempt(victim, preemptor, expected):
    async def scene(world):
        one_pod_nodes(world, 1)
        world.add(pod("v", cpu="1", node="n0", **victim), group(min_count=1, priority=5))
        world.add(*gang("p1", priority=5, **preemptor))
        await world.settle()

        few = "minCount (1) cannot be satisfied: 0 scheduled, 0 remaining"
        assert world.condition()[2] == f"{few}, {expected}"

    play(scene)


def test_a_group_that_is_evicted_whole_leaves_for_a_gang_that_needs_one_node():
    async def scene(world):
        one_pod_nodes(world, 2)
        world.add(group("victims", min_count=2, priority=1, mode="all"))
        world.add(*(member(f"v{i}", of="victims", cpu="1", priority=1) for i in (1, 2)))
        await world.settle()
        world.add(group(min_count=1, priority=5), *gang("p1", priority=5))
        await world.settle()

        assert all(world.pods[name].is_terminating for name in ("v1", "v2"))

    play(scene)


def test_of_a_group_that_is_evicted_pod_by_pod_one_pod_stays():
    async def scene(world):
        one_pod_nodes(world, 2)
        world.add(group("victims", min_count=2, priority=1))
        world.add(*(member(f"v{i}", of="victims", cpu="1", priority=1) for i in (1, 2)))
        await world.settle()
        world.add(group(min_count=1, priority=5), *gang("p1", priority=5))
        await world.settle()

        assert [world.pods[name].is_terminating for name in ("v1", "v2")].count(True) == 1

    play(scene)


@pytest.mark.parametrize(("mode", "evicted"), [("all", {"v1", "v2"}), ("single", {"v1"})])
def test_a_single_pod_preempts_a_group(mode, evicted):
    async def scene(world):
        world.add_nodes("n0", cpu="1", labels="disk=ssd")
        world.add_nodes("n1", cpu="1")
        world.add(group("victims", min_count=2, priority=1, mode=mode))
        world.add(member("v1", of="victims", cpu="1", priority=1, node="n0"))
        world.add(member("v2", of="victims", cpu="1", priority=1, node="n1"))
        world.add(pod("boss", cpu="1", priority=5, node_selector="disk=ssd"))
        await world.settle()

        assert {name for name, one in world.pods.items() if one.is_terminating} == evicted

    play(scene)


def test_without_asynchronous_preemption_victims_are_gone_before_the_cycle_ends():
    async def scene(world):
        one_pod_nodes(world, 3)
        world.add(*victims())
        world.add(group(min_count=3, priority=5), *gang(priority=5))
        await world.settle()
        assert world.condition()[2] == f"{FEW}, {FOUND}"

        world.finish_deletions()
        await world.wait(3)

        assert world.placed(*P) == set(P)

    play(scene, "SchedulerAsyncPreemption=false")


# --- what goes wrong ------------------------------------------------------------------------------

SAME = "all pods in a single pod group should have the same"


@pytest.mark.parametrize(
    ("members", "message"),
    [
        pytest.param(gang(priority=3), f"{SAME} priority as the pod group's priority, got 3 and 0",
                     id="priority"),
        pytest.param([*gang("p1", "p2"), *gang("p3", preemption_policy="Never")],
                     f"{SAME} preemption policy, got Never and PreemptLowerPriority",
                     id="preemption-policy"),
    ],
)  # fmt: skip
def test_members_that_differ_are_an_error(members, message):
    async def scene(world):
        one_pod_nodes(world, 3)
        world.add(group(min_count=3), *members)
        await world.settle()

        assert world.condition() == ("False", "SchedulerError", message)
        assert [world.notes(name) for name in P] == [[message]] * 3
        assert world.queue.queue_of("default/p1") == "backoff"

    play(scene)


def test_without_nodes_the_answer_of_dynamic_resources_hides_the_reason():
    """As upstream: it has nothing to look at if no member came that far."""

    async def scene(world):
        world.add(group(min_count=2), *gang("p1", "p2"))
        await world.settle()

        assert world.condition() == ("False", "SchedulerError", NOT_FOUND)

    play(scene)


def test_without_post_filter_plugins_the_message_ends_with_a_comma():
    off = {"podGroupPostFilter": {"disabled": [{"name": "*"}]}}

    async def scene(world):
        one_pod_nodes(world, 1)
        world.add(group(min_count=3), *gang())
        await world.settle()

        assert world.condition()[2] == f"{FEW}, "

    play(scene, configuration={"profiles": [{"plugins": off}]})


def test_a_member_that_is_being_deleted_is_left_out():
    async def scene(world):
        one_pod_nodes(world, 3)
        gone = member("p3", cpu="1", deletion_timestamp="2026-01-01T00:00:00Z")
        world.add(group(min_count=3), *gang("p1", "p2"), gone)
        await world.settle()

        assert world.notes("p3") == ["skip schedule deleting pod: default/p3"]
        assert world.condition() == ("False", "SchedulerError", NOT_FOUND)
        assert not world.placed(*P)

    play(scene)


def test_a_member_that_arrives_late_joins_a_running_gang():
    async def scene(world):
        one_pod_nodes(world, 3)
        world.add(group(min_count=2), *gang("p1", "p2"))
        await world.settle()
        world.add(*gang("p3"))
        await world.settle()

        assert world.placed(*P) == set(P)

    play(scene)


def test_single_pods_are_not_held_up_by_a_gang_that_cannot_fit():
    async def scene(world):
        one_pod_nodes(world, 2)
        world.add(group(min_count=3), *gang())
        await world.settle()
        world.add(pod("single", cpu="1"))
        await world.settle()

        assert world.placed("single") == {"single"}

    play(scene)


def test_two_gangs_that_fit_one_after_the_other_do_not_block_each_other():
    async def scene(world):
        one_pod_nodes(world, 3)
        world.add(group("a", min_count=3), group("b", min_count=3))
        for name in P:  # the pods of both arrive in turn
            world.add(member(f"a-{name}", of="a", cpu="1"), member(f"b-{name}", of="b", cpu="1"))
        await world.settle()
        first = world.placed(*(f"a-{name}" for name in P))
        assert len(first) == 3

        for name in first:
            world.delete_pod(name)
        await world.wait(3)

        assert len(world.placed(*(f"b-{name}" for name in P))) == 3

    play(scene)


def test_attempts_are_counted_by_result():
    async def scene(world):
        one_pod_nodes(world, 1)
        world.add(group(min_count=3), *gang())
        await world.settle()

        counts = world.metrics.groups
        assert counts.attempts.series() == {("unschedulable", "default-scheduler"): 1}
        assert counts.preemptions.series() == {("UnschedulableAndUnresolvable",): 1}

    play(scene)
