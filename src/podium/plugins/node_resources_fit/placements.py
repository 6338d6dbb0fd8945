"""NodeResourcesFit with TopologyAwareWorkloadScheduling: prefer the fullest placement.

All nodes of a placement count as one large node, with the members of the group on it.
"""

from __future__ import annotations

from collections.abc import Sequence

from podium import framework as fwk
from podium.api.pod_groups import SchedulingGroup
from podium.framework.placements import Assignment, GroupAssignments
from podium.framework.plugin import PlacementScorePlugin
from podium.framework.resource_scoring import Demand
from podium.plugins.node_resources_fit import NodeResourcesFit
from podium.plugins.node_resources_fit.strategies import MostAllocated

_MOST_ALLOCATED = MostAllocated()


class PlacementScoringFit(NodeResourcesFit, PlacementScorePlugin):
    """NodeResourcesFit that also scores placements, always as MostAllocated does."""

    def score_placement(self, group: SchedulingGroup, assignments: GroupAssignments) -> int:
        demands = self._demands_of_all(assignments.members)
        score: int = _MOST_ALLOCATED.score(demands, Together(assignments.placement.nodes))
        return score

    def _demands_of_all(self, members: Sequence[Assignment]) -> list[Demand]:
        """Sum up what members request. A scalar resource that none requests does not count."""
        found: dict[str, Demand] = {}
        for member in members:
            for demand in self.demands_of(member.pod.pod):
                before = found.get(demand.name)
                amount = demand.amount + (0 if before is None else before.amount)
                found[demand.name] = demand._replace(amount=amount)
        order = (spec.name for spec in self.resources)
        return [found[name] for name in order if name in found]


class Together:
    """The amounts of several nodes as those of one. Nodes without a resource do not count for it.

    Implements ``framework.resource_scoring.Amounts``.
    """

    def __init__(self, nodes: fwk.Rows) -> None:
        self._nodes = nodes

    def allocatable(self, resource: str) -> int:
        return int(self._nodes.allocatable(resource).sum())

    def all_have(self, resource: str) -> bool:
        return bool(self.allocatable(resource))

    def requested(self, resource: str) -> int:
        nodes = self._nodes
        return int(nodes.requested(resource)[nodes.allocatable(resource) != 0].sum())

    def non_zero_requested(self, resource: str) -> int:
        nodes = self._nodes
        return int(nodes.non_zero_requested(resource)[nodes.allocatable(resource) != 0].sum())
