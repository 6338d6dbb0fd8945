"""What it costs to decide about a gang, by the number of placements that it may choose from.

Run: python benchmarks/group_placements.py [members] [nodes]

A gang of 1,000 equal pods asks for one zone, on 5,000 nodes in 1, 5 and 50 zones with room for it.
The group is tried in each zone. The first line is the same gang without a topology constraint. All
take turns; each figure is the median CPU time of the whole decision. Beside it stand its ratio to
the first line, and what one member costs in one placement.
"""

import asyncio
import gc
import sys
from dataclasses import dataclass, field
from statistics import median
from time import thread_time
from typing import Any

from podium import app, config
from podium import framework as fwk
from podium.api.objects import PodGroup, decode
from podium.app.group_cycles import group_cycles
from podium.app.own_plugins import in_tree
from podium.config.feature_gates import parse
from podium.cycle.group_cycle import GroupCycle
from podium.cycle.record import Records, usual_budget
from podium.metrics import PlacementMetrics
from podium.state.grouped_cluster import GroupedClusterState
from podium.testing import node, pod

GATES = parse(["GenericWorkload=true", "TopologyAwareWorkloadScheduling=true"])
ZONES = (1, 5, 50)
TURNS = 5
LOOP = asyncio.new_event_loop()


@dataclass
class Case:
    """``zones`` is 0 without a topology constraint."""

    zones: int
    cycle: GroupCycle
    times: list[float] = field(default_factory=list)

    def turn(self) -> None:
        begin = thread_time()
        result = LOOP.run_until_complete(self.cycle.run())
        self.times.append(thread_time() - begin)
        assert result.status.ok, result.status.message

    def row(self, unconstrained: float) -> str:
        took, members = median(self.times), len(self.cycle.members)
        name = f"{self.zones} placements" if self.zones else "no topology constraint"
        each = took / members / max(1, self.zones)
        return f"{name:<24} {took * 1e3:>7.0f} {took / unconstrained:>7.2f} {each * 1e6:>8.0f}"


def case(zones: int, members: int, nodes: int) -> Case:
    registry = in_tree(GATES)
    cluster = GroupedClusterState()
    core = app.build(
        config.default(registry, gates=GATES),
        registry=registry,
        cluster=cluster,
        records=Records(budget=usual_budget()),
    )
    per_zone = nodes // max(1, zones)
    room = str(4 * max(1, -(-members // per_zone)))  # all members fit into each zone
    for number in range(nodes):
        labels = {"zone": f"z{number % max(1, zones)}"}
        cluster.set_node(node(f"n{number}", cpu=room, memory="64Gi", labels=labels))
    (profile,) = core.profiles.values()
    queued = [queued_member(number) for number in range(members)]
    for each in queued:
        cluster.see_member(each.pod)
    start = group_cycles(core, PlacementMetrics(registry.release))
    return Case(zones, start(profile, gang(members, with_zones=zones > 0), queued))


def gang(members: int, *, with_zones: bool) -> PodGroup:
    spec: dict[str, Any] = {"schedulingPolicy": {"gang": {"minCount": members}}}
    if with_zones:
        spec["schedulingConstraints"] = {"topology": [{"key": "zone"}]}
    return decode(PodGroup, {"metadata": {"name": "gang", "namespace": "default"}, "spec": spec})


def queued_member(number: int) -> fwk.QueuedPod:
    of_gang = {"podGroupName": "gang"}
    return fwk.QueuedPod.of(pod(f"p{number}", cpu="1", memory="1Gi", scheduling_group=of_gang))


def main(members: int = 1_000, nodes: int = 5_000) -> None:
    cases = [case(zones, members, nodes) for zones in (0, *ZONES)]
    for each in cases:
        each.turn()  # not counted: imports and caches
        each.times.clear()
    gc.disable()  # as the scheduler does while it decides
    for _ in range(TURNS):
        for each in cases:
            gc.collect()
            each.turn()
    print(f"{'':<24} {'ms':>7} {'ratio':>7} {'us each':>8}")
    for each in cases:
        print(each.row(median(cases[0].times)))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
