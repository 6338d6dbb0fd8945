"""PodGroupPodsCount: prefer the placement that takes most members of a pod group.

PlacementScore  counts the members that have a node, those that run already included, and scales the
                highest count to 100.
"""

from __future__ import annotations

from podium import framework as fwk
from podium.api.objects import PodGroup
from podium.api.pod_groups import SchedulingGroup
from podium.framework.placements import GroupAssignments
from podium.framework.plugin import PlacementScorePlugin


class PodGroupPodsCount(PlacementScorePlugin):
    name = "PodGroupPodsCount"
    watches = (PodGroup,)

    def __init__(self, args: fwk.NoArgs, handle: fwk.Handle) -> None:
        self._cluster = handle.cluster

    def score_placement(self, group: SchedulingGroup, assignments: GroupAssignments) -> int:
        leaves = self._cluster.trees.leaves(group)
        running = sum(self._cluster.members(leaf.key).scheduled_count for leaf in leaves)
        return running + len(assignments.members)

    def normalize_placement_scores(self, group: SchedulingGroup, scores: fwk.Scores) -> fwk.Scores:
        highest = int(scores.max(initial=0))
        if not highest:
            what = "no pods from pod group are assigned to any of the candidate placements"
            raise ValueError(what)
        normal: fwk.Scores = scores * 100 // highest
        return normal
