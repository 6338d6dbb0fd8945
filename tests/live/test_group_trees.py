"""Trees of groups through the whole scheduler, with the feature gate CompositePodGroup."""

import pytest

from podium.framework.status import SUCCESS, Status
from podium.testing.builders import pod
from tests.support.groups import PROFILE, TREES, composite, group, member, play

NO_VICTIMS = "pod group preemption: No preemption victims found for incoming preemptor"
NONE_AVAILABLE = "0/1 placements are available, first placement status"
UNSCHEDULABLE = "pod group is unschedulable"
IN_A_ZONE = {"schedulingConstraints": {"topology": [{"key": "zone"}]}}


def members(of, count, **rest):
    return [member(f"{of}{number}", of=of, cpu="1", **rest) for number in range(1, count + 1)]


def names(of, count):
    return [f"{of}{number}" for number in range(1, count + 1)]


def zones(world, **sizes):
    for zone, size in sizes.items():
        found = [f"{zone}{number}" for number in range(size)]
        world.add_nodes(*found, cpu="1", labels={"zone": zone})


def test_a_tree_is_placed_when_enough_of_its_groups_fit():
    async def scene(world):
        world.add_nodes("n1", cpu="4")
        world.add(composite(min_groups=2), group("a", min_count=2, parent="root"))
        world.add(group("b", min_count=2, parent="root"), *members("a", 2), *members("b", 1))
        await world.settle()
        assert not world.placed("a1", "a2", "b1")

        world.add(member("b2", of="b", cpu="1"))
        await world.settle()

        assert world.placed("a1", "a2", "b1", "b2") == {"a1", "a2", "b1", "b2"}
        assert world.condition("a") == world.condition("b") == ("True", "Scheduled", "")

    play(scene, *TREES)


def test_a_tree_without_room_for_enough_groups_holds_nothing():
    """The first child fits and the second does not: both get what the root says."""

    async def scene(world):
        world.add_nodes("n1", cpu="3")
        world.add(composite(min_groups=2), group("a", min_count=2, parent="root"))
        world.add(group("b", min_count=2, parent="root"), *members("a", 2), *members("b", 2))
        await world.settle()

        assert not world.placed(*names("a", 2), *names("b", 2))
        assert not world.cluster.assumed_count
        few = "minCount (2) cannot be satisfied: 1 scheduled, 0 remaining"
        root = f"{UNSCHEDULABLE}, {NONE_AVAILABLE}: {few}"
        own = "minCount (2) cannot be satisfied: 1 scheduled, 0 remaining"
        # As upstream, the first group shares its status with the root and gets the text twice.
        assert world.condition("a")[2] == f"{root}, {NO_VICTIMS}, {NO_VICTIMS}"
        assert world.condition("b")[2] == f"{UNSCHEDULABLE}, {NONE_AVAILABLE}: {own}, {NO_VICTIMS}"
        assert world.why("a1") == root
        assert world.why("b2") == "0/1 nodes are available: 1 Insufficient cpu."

    play(scene, *TREES)


def test_one_child_that_does_not_fit_is_left_behind():
    async def scene(world):
        world.add_nodes("n1", cpu="3")
        world.add(composite(), group("a", min_count=2, parent="root"))
        world.add(group("b", min_count=2, parent="root"), *members("a", 2), *members("b", 2))
        await world.settle()

        assert world.placed(*names("a", 2)) == {"a1", "a2"}
        assert not world.placed(*names("b", 2))
        assert world.condition("a") == ("True", "Scheduled", "")
        assert world.condition("b")[:2] == ("False", "Unschedulable")

        world.add_nodes("n2", cpu="1")
        await world.wait(30)
        assert world.placed(*names("b", 2)) == {"b1", "b2"}

    play(scene, *TREES)


def test_nested_groups_are_placed_together():
    async def scene(world):
        world.add_nodes("n1", cpu="5")
        world.add(composite(min_groups=2), composite("inner", min_groups=2, parent="root"))
        world.add(group("a", min_count=1, parent="inner"), group("b", min_count=1, parent="inner"))
        world.add(group("c", min_count=3, parent="root"))
        world.add(*members("a", 1), *members("b", 1), *members("c", 3))
        await world.settle()

        every = {"a1", "b1", *names("c", 3)}
        assert world.placed(*every) == every

    play(scene, *TREES)


def test_a_subtree_that_fails_gives_its_nodes_to_its_siblings():
    async def scene(world):
        world.add_nodes("n1", cpu="3")
        world.add(composite(), composite("inner", min_groups=2, parent="root"))
        world.add(group("a", min_count=2, parent="inner"), group("b", min_count=2, parent="inner"))
        world.add(group("z", min_count=3, parent="root"))
        world.add(*members("a", 2), *members("b", 2), *members("z", 3))
        await world.settle()

        assert world.placed(*names("z", 3)) == {"z1", "z2", "z3"}
        assert not world.placed(*names("a", 2), *names("b", 2))

    play(scene, *TREES)


def test_all_groups_go_to_one_zone_and_each_to_a_rack():
    async def scene(world):
        for zone, rack, size in (("x", "x1", 2), ("x", "x2", 1), ("y", "y1", 2), ("y", "y2", 2)):
            found = [f"{rack}n{number}" for number in range(size)]
            world.add_nodes(*found, cpu="1", labels={"zone": zone, "rack": rack})
        rack = {"schedulingConstraints": {"topology": [{"key": "rack"}]}}
        world.add(composite(min_groups=2, **IN_A_ZONE))
        world.add(group("a", min_count=2, parent="root", **rack))
        world.add(group("b", min_count=2, parent="root", **rack))
        world.add(*members("a", 2), *members("b", 2))
        await world.settle()

        racks = [{world.node_of(name)[:2] for name in names(of, 2)} for of in "ab"]
        assert sorted(map(sorted, racks)) == [["y1"], ["y2"]]

    play(scene, *TREES)


def test_members_that_come_later_go_to_the_zone_of_the_tree():
    async def scene(world):
        zones(world, a=1)
        world.add(composite(**IN_A_ZONE), group("a", parent="root"), group("b", parent="root"))
        world.add(*members("a", 1))
        await world.settle()
        assert world.placed("a1")

        zones(world, b=3)
        world.add(*members("b", 1))
        await world.settle()

        assert not world.placed("b1")
        assert world.why("b1") == "0/1 nodes are available: 1 Insufficient cpu."

    play(scene, *TREES)


def test_pods_have_the_priority_of_the_root():
    async def scene(world):
        world.add_nodes("n1", cpu="5")
        world.add(composite(priority=5), group("a", parent="root", priority=3))
        world.add(*members("a", 1, priority=3))
        await world.settle()

        what = "all pods in a single pod group should have the same priority as"
        told = f"{what} the pod group's priority, got 3 and 5"
        assert world.condition("a") == ("False", "SchedulerError", told)

    play(scene, *TREES)


def test_a_tree_preempts_as_a_whole():
    async def scene(world):
        world.add_nodes("n1", "n2", cpu="1")
        for name in ("v1", "v2"):
            world.add(pod(name, cpu="1", priority=0))
        await world.settle()
        world.add(composite(min_groups=2, priority=5))
        for name in "ab":
            world.add(group(name, min_count=1, parent="root"), *members(name, 1, priority=5))
        await world.settle()
        notes = world.notes("v1", "Preempted")
        assert notes == [
            "Preempted by compositepodgroup uid-compositepodgroup-root on node cluster"
        ]

        world.finish_deletions()
        await world.wait(30)
        assert world.placed("a1", "b1") == {"a1", "b1"}

    play(scene, *TREES)


def test_a_tree_that_fits_nowhere_evicts_nobody():
    async def scene(world):
        world.add_nodes("n1", cpu="1")
        world.add(pod("v1", cpu="1", priority=0))
        await world.settle()
        world.add(composite(min_groups=2, priority=5))
        for name in "ab":
            world.add(group(name, min_count=1, parent="root"), *members(name, 1, priority=5))
        await world.settle()

        assert not world.pods["v1"].is_terminating
        assert world.condition("a")[1] == "Unschedulable"

    play(scene, *TREES)


def test_a_tree_that_is_evicted_whole():
    async def scene(world):
        world.add_nodes("n1", "n2", "n3", cpu="1")
        world.add(composite(mode="all"), *(group(name, parent="root") for name in "ab"))
        world.add(*members("a", 1), *members("b", 2))
        await world.settle()
        assert world.placed("a1", "b1", "b2") == {"a1", "b1", "b2"}

        world.add(pod("high", cpu="1", priority=9))
        await world.settle()

        assert all(world.pods[name].is_terminating for name in ("a1", "b1", "b2"))

    play(scene, *TREES)


def test_a_group_that_waits_for_its_parent():
    async def scene(world):
        world.add_nodes("n1", cpu="5")
        world.add(group("a", parent="inner"), *members("a", 1))
        await world.settle()
        assert world.queue.pending().incomplete == 1

        world.add(composite("inner", parent="root"))
        await world.settle()
        assert world.queue.pending().incomplete == 1

        world.add(composite())
        await world.settle()
        assert world.placed("a1")

    play(scene, *TREES)


def levels(count, **of_root):
    """Composite groups c1, c2 and so on, each in the one before."""
    inner = [composite(f"c{n}", parent=f"c{n - 1}") for n in range(2, count + 1)]
    return [composite("c1", **of_root), *inner]


@pytest.mark.parametrize(
    ("of_root", "expected"),
    [
        pytest.param({}, ("True", "Scheduled", ""), id="anywhere"),
        pytest.param(
            IN_A_ZONE,
            (
                "False",
                "SchedulerError",
                "exceeded maximum hierarchy depth at podgroup/default/deep",
            ),
            id="in-one-zone",
        ),
    ],
)
def test_a_tree_of_five_levels_has_no_topology_constraint(of_root, expected):
    async def scene(world):
        world.add_nodes("n1", cpu="5", labels={"zone": "a"})
        world.add(*levels(4, **of_root), group("deep", parent="c4"), *members("deep", 1))
        await world.settle()

        assert world.condition("deep") == expected

    play(scene, *TREES)


def test_a_tree_that_is_too_deep_or_a_circle_is_never_tried():
    async def scene(world):
        world.add_nodes("n1", cpu="5")
        world.add(*levels(5), group("deep", parent="c5"), *members("deep", 1))
        world.add(composite("x", parent="y"), composite("y", parent="x"))
        world.add(group("lost", parent="x"), *members("lost", 1))
        await world.settle()

        assert not world.placed("deep1", "lost1")
        assert world.queue.queue_of("default/deep1") == "gated"
        assert world.queue.queue_of("default/lost1") == "incomplete"

    play(scene, *TREES)


def test_without_the_gate_each_pod_group_is_on_its_own():
    async def scene(world):
        world.add_nodes("n1", cpu="5")
        world.add(group("a", parent="root"), *members("a", 1))
        await world.settle()

        assert world.placed("a1")

    play(scene, TREES[0])


def test_an_error_in_one_group_is_the_error_of_all_of_them():
    async def scene(world):
        world.add_nodes("n1", cpu="4")
        world.add(composite(min_groups=2), *(group(name, parent="root") for name in "ab"))
        plugin = next(p for p in world.core.profiles[PROFILE].permits if p.name == "GangScheduling")
        plugin.placement_feasible = lambda known, progress: (
            Status.error("broken") if known.name == "b" else SUCCESS
        )
        world.add(*members("a", 1), *members("b", 1))
        await world.settle()

        assert not world.placed("a1", "b1")
        assert not world.cluster.assumed_count
        told = "composite pod group evaluation failed due to child error: failed to evaluate "
        told += "placement feasibility: running PlacementFeasible plugin: broken"
        assert world.condition("a") == world.condition("b") == ("False", "SchedulerError", told)

    play(scene, *TREES)
