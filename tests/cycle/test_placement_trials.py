"""A trial in a placement decides as a trial in a cluster that has no other nodes.

The model is slow: for each placement of each group it builds a scheduler that has only the nodes of
the placement, with the pods on them, and keeps no answers of equal pods.
"""

import asyncio
from dataclasses import dataclass, field
from typing import ClassVar

from hypothesis import given
from hypothesis import strategies as st

from podium import app, config
from podium import framework as fwk
from podium.app.own_plugins import in_tree
from podium.config.feature_gates import parse
from podium.cycle.group_cycle import GroupCycle
from podium.cycle.group_placements import PlacementGroupCycle
from podium.cycle.group_result import Proposal
from podium.cycle.outcome import Placed
from podium.cycle.placement_cycle import MemberSignatures
from podium.metrics import PlacementMetrics
from podium.state.grouped_cluster import GroupedClusterState
from podium.state.pod_info import PodInfo
from podium.testing.builders import node, pod
from tests.support.groups import group, member
from tests.support.search import examples

GATES = parse(["GenericWorkload=true", "TopologyAwareWorkloadScheduling=true"])
REGISTRY = in_tree(GATES)
CONFIGURATION = config.default(REGISTRY, gates=GATES)
COUNTS = PlacementMetrics(REGISTRY.release)
ZONES = ("a", "b", "c")
IN_A_ZONE = {"schedulingConstraints": {"topology": [{"key": "zone"}]}}

APART = {
    "labelSelector": {"matchLabels": {"app": "apart"}},
    "topologyKey": "kubernetes.io/hostname",
}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
WITH_DISKS = [
    {"weight": 3, "preference": {"matchExpressions": [{"key": "disk", "operator": "Exists"}]}}
]
KINDS = (
    {"cpu": "1"},
    {"cpu": "2", "memory": "1Gi"},
    {"cpu": "1", "tolerates": "spot:PreferNoSchedule gpu:NoSchedule"},
    {"cpu": "1", "node_selector": "disk=ssd"},
    {"cpu": "1", "host_ports": (80,)},
    {
        "cpu": "1",
        "affinity": {"nodeAffinity": {PREFERRED: WITH_DISKS}},
    },
    {
        "cpu": "1",
        "labels": "app=apart",
        "affinity": {"podAntiAffinity": {REQUIRED: [APART]}},
    },
)
kinds = st.integers(0, len(KINDS) - 1)
gangs = st.lists(kinds, min_size=1, max_size=5)
equal_members = st.builds(lambda kind, size: [kind] * size, kinds, st.integers(2, 6))
steps = st.lists(gangs | equal_members | kinds, min_size=1, max_size=5)


@st.composite
def some_nodes(draw):
    count = draw(st.integers(2, 10))
    return [_node(draw, f"n{number}") for number in range(count)]


def _node(draw, name):
    labels = {"kubernetes.io/hostname": name}
    if zone := draw(st.sampled_from((*ZONES, ""))):
        labels["zone"] = zone
    if disk := draw(st.sampled_from(("ssd", "hdd", ""))):
        labels["disk"] = disk
    taints = draw(st.sampled_from(("", "", "spot:PreferNoSchedule", "gpu:NoSchedule")))
    return node(name, cpu=draw(st.sampled_from("124")), labels=labels, taints=taints)


@dataclass
class World:
    """What there is: ``nominated`` pods wait for their victims to leave."""

    nodes: list
    nominated: list
    placed: list = field(default_factory=list)

    def core(self, zone=None, *, reuses=False):
        nodes = [each for each in self.nodes if zone in (None, each.labels.get("zone"))]
        names = {each.name for each in nodes}
        core = app.build(
            CONFIGURATION, registry=REGISTRY, cluster=GroupedClusterState(), reuses=reuses
        )
        for each in nodes:
            core.cluster.set_node(each)
        for each in self.placed:
            if each.node_name in names:
                core.cluster.add_pod(each)
        for each in self.nominated:
            if each.nominated_node_name in names:
                core.nominator.add(PodInfo(each))
        return core

    @property
    def zones(self):
        """The zones with a node, in the order in which they appear."""
        zones = [each.labels.get("zone") for each in self.nodes]
        return [zone for zone in dict.fromkeys(zones) if zone]


class Watched(PlacementGroupCycle):
    """Notes what became of the group in each placement."""

    seen: ClassVar[list] = []

    async def _place_within(self, rows, signatures):
        result = await PlacementGroupCycle._place_within(self, rows, signatures)
        self.seen.append(story_of(result))
        return result


def story_of(result):
    return result.status, [_member_story(each) for each in result.members]


def _member_story(each):
    outcome = each.outcome
    is_placed = isinstance(outcome, Proposal)
    record = outcome.cycle.record if is_placed else outcome.record
    found = outcome.node_name if is_placed else outcome.status
    counts = record.nodes, record.feasible, dict(record.rejected), record.tied
    return each.queued.uid, found, counts


def play(nodes, nominated, steps):
    """Decide about all that arrives, in turns with the model; what fits is placed."""
    world = World(nodes, nominated)
    core = world.core(reuses=True)
    for number, step in enumerate(steps):
        if isinstance(step, int):
            placed = single_pod(world, core, pod(f"s{number}", **KINDS[step]))
        else:
            placed = gang(world, core, number, step)
        for each in placed:
            world.placed.append(each)
            core.cluster.add_pod(each)
        core.services.pod_classes.check_invariants()
        core.cluster.check_invariants()


def single_pod(world, core, subject):
    """A pod of a class that groups may have as well chooses from all nodes."""
    outcomes = [each.cycle(fwk.QueuedPod.of(subject)).run() for each in (core, world.core())]
    names = [each.node.name if isinstance(each, Placed) else each.status for each in outcomes]
    assert names[0] == names[1]
    return [subject.bound_to(names[0])] if isinstance(names[0], str) else []


def gang(world, core, number, chosen):
    name = f"g{number}"
    members = [member(f"{name}-{i}", of=name, **KINDS[kind]) for i, kind in enumerate(chosen)]
    wanted = group(name, min_count=max(1, len(members) - 1), **IN_A_ZONE)
    alone = [run(GroupCycle, world.core(zone), wanted, members) for zone in world.zones]

    Watched.seen = []
    result = run(Watched, core, wanted, members)

    assert Watched.seen == [story_of(each) for each in alone]
    if not result.status.ok:
        return []
    found = [each.outcome for each in result.members if isinstance(each.outcome, Proposal)]
    return [each.cycle.pod.bound_to(each.node_name) for each in found]


def run(kind, core, wanted, members):
    queued = [fwk.QueuedPod.of(each) for each in members]
    for each in members:
        core.cluster.see_member(each)
    (profile,) = core.profiles.values()
    parts = {"start_cycle": core.start_cycle}
    if kind is Watched:
        parts |= {"start_within": core.start_placement_cycle, "counts": COUNTS}
    return asyncio.run(kind(core.services, profile, wanted, queued, **parts).run())


def _nominated(places):
    return [
        pod(f"v{i}", cpu="1", priority=9, status={"nominated_node_name": f"n{place}"})
        for i, place in enumerate(places)
    ]


@examples(200, deadline=None)
@given(some_nodes(), st.lists(st.integers(0, 9), max_size=2), steps)
def test_each_placement_is_tried_as_if_there_were_no_other_nodes(nodes, nominated, steps):
    play(nodes, _nominated(nominated), steps)


def test_signatures_are_found_again_when_terms_of_affinity_come_into_play():
    """Whether a label of a pod matters depends on the terms of the pods that run."""
    world = World([node("n0", labels="zone=a")], [])
    core = world.core(reuses=True)
    (profile,) = core.profiles.values()
    signatures, subject = MemberSignatures(core.cluster), pod("p", labels="app=apart")
    before = signatures.of(profile, subject)
    core.cluster.add_pod(pod("plain", node="n0"))
    assert signatures.of(profile, subject) is before

    core.cluster.add_pod(pod("terms", node="n0", **KINDS[-1]))

    assert signatures.of(profile, subject) == profile.sign(subject) != before
