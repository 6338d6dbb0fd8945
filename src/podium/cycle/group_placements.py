"""The cycle of a pod group with TopologyAwareWorkloadScheduling: the best of several placements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from podium.cycle.group_cycle import GroupCycle, StartCycle
from podium.cycle.group_result import UNSCHEDULABLE, GroupResult, unschedulable
from podium.cycle.placement_cycle import MemberSignatures, PlacementCycle, PlacementRows
from podium.cycle.verdicts import RowNumbers
from podium.framework.placements import (
    Assignment,
    GroupAssignments,
    Placement,
    run_placement_generate,
    run_placement_scores,
)
from podium.framework.queued_pod import QueuedPod
from podium.framework.status import Code, Status
from podium.metrics import PlacementMetrics
from podium.state.cluster import ClusterState
from podium.state.node_table import stable_hash
from podium.state.rows import Rows

StartWithin = Callable[[QueuedPod, PlacementRows], PlacementCycle]


@dataclass(frozen=True, slots=True)
class TriedPlacement:
    """A placement, and what became of the group there.

    Its nodes are kept as rows: a view of nodes ends with the cycle in which it was made.
    """

    name: str
    rows: RowNumbers
    result: GroupResult

    def assignments(self, cluster: ClusterState) -> GroupAssignments:
        """Return the members that found a node."""
        placed = self.result.placed
        members = [Assignment(each.cycle.queued.info, each.node_name) for each in placed]
        return GroupAssignments(Placement(self.name, Rows(cluster, self.rows)), members)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementGroupCycle(GroupCycle):
    """A group cycle that tries the group in every placement that plugins propose."""

    start_within: StartWithin
    counts: PlacementMetrics

    async def _place(self) -> GroupResult:
        cluster = self.services.cluster
        return await self.place_inside(cluster.table.live_rows(), MemberSignatures(cluster))

    async def place_inside(self, nodes: RowNumbers, signatures: MemberSignatures) -> GroupResult:
        """Try the group in every placement on these rows, and take back what was tried."""
        inside = Rows(self.services.cluster, nodes)
        proposed, status = run_placement_generate(self.profile, self.group, inside)
        if not status.ok:
            return GroupResult(self.group, status)
        self._generated(len(proposed))
        tried: list[TriedPlacement] = []
        for name, rows in [(each.name, each.nodes.index) for each in proposed]:
            result = await self._place_within(rows, signatures)
            if result.status.code is Code.ERROR:
                return result
            tried.append(TriedPlacement(name, rows, result))
        fitting = [each for each in tried if each.result.status.ok]
        return self._best(fitting) if fitting else none_available(tried)

    def _generated(self, count: int) -> None:
        self.counts.generated.inc(self.profile.name, by=count)

    async def _place_within(self, rows: RowNumbers, signatures: MemberSignatures) -> GroupResult:
        begin = perf_counter()
        with self._trial() as tried:
            result = await self._place_members(self._starter(rows, signatures), tried)
        if result.status.code is not Code.ERROR:
            self.counts.evaluated(self.profile.name, result.status.ok, perf_counter() - begin)
        return result

    def _starter(self, rows: RowNumbers, signatures: MemberSignatures) -> StartCycle:
        if len(rows) == len(self.services.cluster.table.live_rows()):
            return self.start_cycle  # the placement leaves nothing out
        within = PlacementRows(self.services.cluster, rows, signatures)
        return lambda queued: self.start_within(queued, within)

    def _best(self, fitting: Sequence[TriedPlacement]) -> GroupResult:
        """Return the result with the highest score; a hash decides among equal ones."""
        if len(fitting) == 1:
            return fitting[0].result
        candidates = [each.assignments(self.services.cluster) for each in fitting]
        totals = run_placement_scores(self.profile, self.group, candidates)
        self.profile.calls.report()
        if isinstance(totals, Status):
            return GroupResult(self.group, totals)
        best = np.flatnonzero(totals == totals.max())
        attempts = max((each.attempts for each in self.members), default=0)
        key = f"{self.services.seed}/{self.group.uid}/{attempts}"
        return fitting[int(best[stable_hash(key) % len(best)])].result


def none_available(tried: Sequence[TriedPlacement]) -> GroupResult:
    """Return the result in the first placement, with a status that counts all of them."""
    first = tried[0].result
    # As upstream, what is shown of a status that says so itself is only that.
    is_told = first.status.reasons[:1] == (UNSCHEDULABLE,)
    why = UNSCHEDULABLE if is_told else first.status.message
    counted = f"0/{len(tried)} placements are available"
    first.status = unschedulable(f"{counted}, first placement status: {why}")
    return first
