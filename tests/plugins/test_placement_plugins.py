"""The plugins of placements on their own: what they propose, and how they score."""

import numpy as np
import pytest

from podium.framework.placements import Assignment, GroupAssignments, Placement
from podium.state.pod_info import PodInfo
from podium.testing.builders import node, pod
from tests.support.groups import PROFILE, GroupWorld, group, member

GATE = "TopologyAwareWorkloadScheduling=true"
GPU = "example.com/gpu"
IN_A_ZONE = {"schedulingConstraints": {"topology": [{"key": "zone"}]}}


def world_of(*nodes, configuration=None):
    world = GroupWorld(GATE, configuration=configuration)
    for each in nodes:
        world.handlers.on_node(None, each)
    return world


def in_zone(name, zone, **rest):
    return node(name, labels={"zone": zone} if zone else {}, **rest)


def proposed(world, known):
    [plugin] = world.core.profiles[PROFILE].placement_generators
    parent = Placement("", world.cluster.rows())
    found = plugin.generate_placements(known, parent)
    return {each.name: each.nodes.names for each in found}


@pytest.mark.parametrize(
    ("zones", "members", "rest", "expected"),
    [
        pytest.param("ab", "", {}, {"": ["n0", "n1"]}, id="no-constraint"),
        pytest.param("aba", "", IN_A_ZONE, {"a": ["n0", "n2"], "b": ["n1"]}, id="by-zone"),
        pytest.param("a b", "", IN_A_ZONE, {"a": ["n0"], "b": ["n2"]}, id="a-node-without-label"),
        pytest.param("  ", "", IN_A_ZONE, {}, id="no-node-has-the-label"),
        pytest.param("aba", "n2", IN_A_ZONE, {"a": ["n0", "n2"]}, id="a-member-runs"),
        pytest.param("aba", "n0 n2", IN_A_ZONE, {"a": ["n0", "n2"]}, id="two-in-one-zone"),
    ],
)
def test_placements(zones, members, rest, expected):
    world = world_of(*(in_zone(f"n{i}", zone.strip()) for i, zone in enumerate(zones)))
    known = group(**rest)
    world.add(known, *(member(f"m{name}", node=name) for name in members.split()))

    assert proposed(world, known) == expected


def test_a_member_that_is_assumed_counts_where_it_will_run():
    world = world_of(in_zone("n0", "a"), in_zone("n1", "b"))
    known, one = group(**IN_A_ZONE), member("m")
    world.add(known, one)
    world.cluster.assume(PodInfo(one), world.cluster.table.live_row("n1"))

    assert proposed(world, known) == {"b": ["n1"]}


def scores(world, plugin_name, pods):
    """The normalized scores of zone a and b, with pods in each."""
    profile = world.core.profiles[PROFILE]
    plugin = next(each for each in profile.placement_scores if each.name == plugin_name)
    nodes, known = world.cluster.rows(), group()
    raw = []
    for zone in "ab":
        placement = Placement(zone, nodes.where(nodes.labels["zone"] == zone))
        members = [Assignment(PodInfo(each), "") for each in pods.get(zone, ())]
        raw.append(plugin.score_placement(known, GroupAssignments(placement, members)))
    return plugin.normalize_placement_scores(known, np.array(raw)).tolist()


@pytest.mark.parametrize(
    ("counts", "running", "expected"),
    [
        pytest.param({"a": 1, "b": 2}, 0, [50, 100], id="share-of-the-highest"),
        pytest.param({"a": 1, "b": 2}, 1, [66, 100], id="running-members-count-in-each"),
        pytest.param({"a": 2, "b": 2}, 0, [100, 100], id="equal"),
    ],
)
def test_pod_group_pods_count(counts, running, expected):
    world = world_of(in_zone("n0", "a"), in_zone("n1", "b"))
    world.add(group(), *(member(f"r{i}", node="n0") for i in range(running)))
    pods = {zone: [pod(f"{zone}{i}") for i in range(count)] for zone, count in counts.items()}

    assert scores(world, "PodGroupPodsCount", pods) == expected


def test_pod_group_pods_count_of_none():
    world = world_of(in_zone("n0", "a"), in_zone("n1", "b"))

    with pytest.raises(ValueError, match="no pods from pod group are assigned to any"):
        scores(world, "PodGroupPodsCount", {})


CPU_ONLY = [{"name": "cpu", "weight": 1}]
WITH_GPU = [{"name": "cpu", "weight": 1}, {"name": GPU, "weight": 3}]


@pytest.mark.parametrize(
    ("nodes", "there", "pods", "resources", "expected"),
    [
        pytest.param(
            [("a", "4", 0), ("b", "4", 0)], {}, {"a": ["1"], "b": ["1", "1"]}, CPU_ONLY, [25, 50],
            id="share-in-use",
        ),
        pytest.param(
            [("a", "4", 0), ("a", "4", 0), ("b", "4", 0)], {}, {"a": ["2"], "b": ["2"]}, CPU_ONLY,
            [25, 50], id="all-nodes-of-a-zone-count",
        ),
        pytest.param(
            [("a", "4", 0), ("b", "4", 0)], {"n0": "2"}, {"a": ["1"], "b": ["1"]}, CPU_ONLY,
            [75, 25], id="with-the-pods-that-run",
        ),
        pytest.param(
            [("a", "1", 0), ("b", "4", 0)], {}, {"a": ["2"], "b": ["2"]}, CPU_ONLY, [100, 50],
            id="never-more-than-full",
        ),
        pytest.param(
            [("a", "4", 8), ("b", "4", 0)], {}, {"a": ["1"], "b": ["1"]}, WITH_GPU, [25, 25],
            id="a-scalar-that-nobody-requests",
        ),
        pytest.param(
            [("a", "4", 8), ("b", "4", 0)], {}, {"a": ["1+4"], "b": ["1+4"]}, WITH_GPU, [43, 25],
            id="a-scalar-that-a-zone-lacks",
        ),
    ],
)  # fmt: skip
def test_node_resources_fit(nodes, there, pods, resources, expected):
    args = {"scoringStrategy": {"type": "LeastAllocated", "resources": resources}}
    entry = {"name": "NodeResourcesFit", "args": args}
    world = world_of(
        *(
            in_zone(f"n{i}", zone, cpu=cpu, allocatable={GPU: str(gpus)} if gpus else {})
            for i, (zone, cpu, gpus) in enumerate(nodes)
        ),
        configuration={"profiles": [{"pluginConfig": [entry]}]},
    )
    world.add(*(requesting(f"r{name}", text, node=name) for name, text in there.items()))
    members = {
        zone: [requesting(f"m{i}", t) for i, t in enumerate(of)] for zone, of in pods.items()
    }

    assert scores(world, "NodeResourcesFit", members) == expected


def requesting(name, text, **rest):
    """``"1+4"``: one cpu and four of the scalar resource."""
    cpu, _, gpus = text.partition("+")
    return pod(name, cpu=cpu, requests={GPU: gpus} if gpus else {}, **rest)
