"""Groups with a topology constraint through the whole scheduler."""

import pytest

from podium.testing.builders import pod
from tests.support.groups import PROFILE, GroupWorld, group, member, play

GATE = "TopologyAwareWorkloadScheduling=true"
IN_A_ZONE = {"schedulingConstraints": {"topology": [{"key": "zone"}]}}
P = ("p1", "p2", "p3")
NO_VICTIMS = "pod group preemption: No preemption victims found for incoming preemptor"
FEW = "minCount (3) cannot be satisfied: 1 scheduled, 1 remaining"


def zones(world, **sizes):
    """Nodes with room for one pod each: ``zones(world, a=2)`` makes a0 and a1 in zone a."""
    for zone, size in sizes.items():
        names = [f"{zone}{number}" for number in range(size)]
        world.add_nodes(*names, cpu="1", labels={"zone": zone})


def gang(*names, **rest):
    return [member(name, cpu="1", **rest) for name in names or P]


def zones_of(world, *names):
    return [world.node_of(name)[:1] for name in names]


def counted(world, name):
    return dict(getattr(world.metrics.groups, name)._series)


def test_a_gang_gets_the_zone_that_has_room_for_all_of_it():
    async def scene(world):
        zones(world, a=2, b=3, c=1)
        world.add(group(min_count=3, **IN_A_ZONE), *gang())
        await world.settle()

        assert zones_of(world, *P) == ["b", "b", "b"]
        assert world.condition() == ("True", "Scheduled", "")
        assert counted(world, "generated") == {(PROFILE,): 3}
        assert counted(world, "evaluations") == {
            ("feasible", PROFILE): 1,
            ("infeasible", PROFILE): 2,
        }

    play(scene, GATE)


def test_a_gang_that_fits_into_no_zone_says_so_and_holds_nothing():
    async def scene(world):
        zones(world, a=1, b=2)
        world.add(group(min_count=3, **IN_A_ZONE), *gang())
        await world.settle()

        told = f"0/2 placements are available, first placement status: {FEW}"
        why = f"pod group is unschedulable, {told}"
        assert world.condition() == ("False", "Unschedulable", f"{why}, {NO_VICTIMS}")
        # The members' own messages are those of the first placement, which has one node.
        assert world.notes("p1") == [f"pod group is unschedulable, {why}, {NO_VICTIMS}"]
        assert world.notes("p2") == ["0/1 nodes are available: 1 Insufficient cpu."]
        assert world.notes("p3") == [why]
        assert not world.cluster.assumed_count

    play(scene, GATE)


def test_a_gang_that_lacks_pods_is_not_tried_in_any_zone():
    async def scene(world):
        zones(world, a=3)
        world.add(group(min_count=3, **IN_A_ZONE), *gang(*P[:2]), member("p3", cpu="1"))
        world.delete_pod("p3")
        await world.settle()

        assert not world.placed(*P[:2])

    play(scene, GATE)


def test_without_the_label_there_is_no_placement():
    async def scene(world):
        world.add_nodes("n0", "n1", "n2", cpu="1")
        world.add(group(min_count=3, **IN_A_ZONE), *gang())
        await world.settle()

        found = "no feasible placements found"
        assert world.condition() == ("False", "Unschedulable", f"{found}, {NO_VICTIMS}")
        assert world.notes("p1") == [found]

    play(scene, GATE)


def test_a_group_without_a_constraint_may_use_all_nodes():
    async def scene(world):
        zones(world, a=1, b=1)
        world.add_nodes("n0", cpu="1")
        world.add(group(min_count=3), *gang())
        await world.settle()

        assert world.placed(*P) == set(P)
        assert counted(world, "generated") == {(PROFILE,): 1}

    play(scene, GATE)


def test_later_members_go_where_the_first_ones_are():
    async def scene(world):
        zones(world, a=1, b=3)
        world.add(group(**IN_A_ZONE), *gang("p1"))
        await world.settle()
        zone = world.node_of("p1")[0]

        world.add(*gang("p2", "p3"))
        await world.settle()

        placed = [name for name in ("p2", "p3") if world.node_of(name)]
        assert zones_of(world, *placed) == [zone] * len(placed)
        assert len(placed) == (2 if zone == "b" else 0)

    play(scene, GATE)


@pytest.mark.parametrize(
    ("running", "expected"),
    [
        pytest.param(
            ["a0", "b0"], "more than 1 domain found for pod group: a, b", id="in-two-zones"
        ),
        pytest.param(["n0"], "no topology domain found for pod default/r0", id="in-no-zone"),
        pytest.param(
            ["gone"],
            'getting node for pod default/r0: nodeinfo not found for node name "gone"',
            id="on-a-node-that-is-gone",
        ),
    ],
)
def test_members_that_break_the_constraint_are_an_error(running, expected):
    async def scene(world):
        zones(world, a=2, b=2)
        world.add_nodes("n0", cpu="1")
        world.add(group(**IN_A_ZONE))
        world.add(*(member(f"r{i}", cpu="1", node=name) for i, name in enumerate(running)))
        world.add(*gang("p1"))
        await world.settle()

        what = f"cannot determine domain for already scheduled pods: {expected}"
        assert world.condition() == ("False", "SchedulerError", what)

    play(scene, GATE)


def test_a_gang_preempts_within_one_zone():
    async def scene(world):
        zones(world, a=2, b=3)
        world.add(*(pod(f"v{name}", cpu="1", node=name) for name in ("a0", "b0", "b1", "b2")))
        world.add(group(min_count=3, priority=5, **IN_A_ZONE), *gang(priority=5))
        await world.settle()

        assert world.condition()[2].endswith("preempting 3 victims")
        assert {name for name, one in world.pods.items() if one.is_terminating} == {
            "vb0", "vb1", "vb2",
        }  # fmt: skip
        world.finish_deletions()
        await world.wait(2)
        assert zones_of(world, *P) == ["b", "b", "b"]

    play(scene, GATE)


def test_of_several_zones_the_one_for_most_members_wins():
    """For all members the score is 100 in zone b and 66 in zone a; both are as full then."""

    async def scene(world):
        zones(world, a=2, b=3)
        world.add(group(min_count=2, **IN_A_ZONE), *gang())
        await world.settle()

        assert zones_of(world, *P) == ["b", "b", "b"]

    play(scene, GATE)


def test_of_equal_zones_the_fullest_wins():
    async def scene(world):
        zones(world, a=4, b=5, c=4)
        world.add(*(pod(f"v{name}", cpu="1", node=name) for name in ("b0", "b1")))
        world.add(group(min_count=3, **IN_A_ZONE), *gang())
        await world.settle()

        assert zones_of(world, *P) == ["b", "b", "b"]

    play(scene, GATE)


def test_sampling_stays_within_the_zone():
    async def scene(world):
        zones(world, a=150, b=150)
        world.add(group(min_count=3, **IN_A_ZONE), *gang())
        await world.settle()

        assert len(set(zones_of(world, *P))) == 1
        assert world.placed(*P) == set(P)

    play(scene, GATE, configuration={"percentageOfNodesToScore": 10})


def test_without_placement_plugins_the_group_may_use_all_nodes():
    off = {"disabled": [{"name": "*"}]}
    plugins = {"placementGenerate": off, "placementScore": off}

    async def scene(world):
        zones(world, a=1, b=2)
        world.add(group(min_count=3, **IN_A_ZONE), *gang())
        await world.settle()

        assert world.placed(*P) == set(P)

    play(scene, GATE, configuration={"profiles": [{"plugins": plugins}]})


def test_the_default_profile_has_the_plugins_at_their_points():
    profile = GroupWorld(GATE).core.profiles[PROFILE]

    assert [each.name for each in profile.placement_generators] == ["TopologyPlacementGenerator"]
    assert [each.name for each in profile.placement_scores] == [
        "NodeResourcesFit",
        "PodGroupPodsCount",
    ]
    assert profile.placement_weights == {"NodeResourcesFit": 1, "PodGroupPodsCount": 1}
    without = GroupWorld().core.profiles[PROFILE]
    assert not without.placement_generators
    assert not without.placement_scores


def test_weights_at_placement_score():
    plugins = {"placementScore": {"enabled": [{"name": "PodGroupPodsCount", "weight": 7}]}}
    world = GroupWorld(GATE, configuration={"profiles": [{"plugins": plugins}]})

    found = world.core.profiles[PROFILE].placement_weights

    assert found == {"PodGroupPodsCount": 7, "NodeResourcesFit": 1}
