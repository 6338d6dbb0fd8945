"""The cycle of a tree of groups: its PodGroups are placed one after the other.

Each group of the tree is tried in every placement on the nodes of the group above it. What fits is
tried out again before the next group, so that this one sees it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from podium.api.objects import CompositePodGroup
from podium.api.pod_groups import SchedulingGroup
from podium.cycle.group_cycle import Tried
from podium.cycle.group_placements import PlacementGroupCycle
from podium.cycle.group_result import GroupResult, unschedulable
from podium.cycle.outcome import Rejected
from podium.cycle.placement_cycle import MemberSignatures
from podium.cycle.verdicts import RowNumbers
from podium.framework.pod_groups import PlacementProgress, run_placement_feasible
from podium.framework.status import SUCCESS, Code, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeCycle(PlacementGroupCycle):
    """One attempt for a CompositePodGroup; ``members`` are those of all PodGroups below it."""

    def _generated(self, count: int) -> None:
        """Count nothing: metrics are about placements of PodGroups, as upstream."""

    async def _place_within(self, rows: RowNumbers, signatures: MemberSignatures) -> GroupResult:
        with self._trial() as tried:
            result = await self._place_children(rows, signatures, tried)
        if result.status.code is Code.ERROR:
            result.children.clear()  # all groups below get this error
        return result

    async def _place_children(
        self, rows: RowNumbers, signatures: MemberSignatures, tried: Tried
    ) -> GroupResult:
        """Try one child after the other, until the group has no chance any more."""
        cycles = list(self._children())
        progress = PlacementProgress(len(cycles), 0)
        result = GroupResult(self.group, self._judge(progress))
        if not result.status.ok and not result.status.is_wait:
            return result
        for cycle in cycles:
            child = await cycle.place_inside(rows, signatures)
            status = self._keep(child, tried) if child.status.ok else child.status
            if status.code is Code.ERROR:
                what = f"composite pod group evaluation failed due to child error: {status.message}"
                result.status = Status.error(what)
                return result
            result.children[cycle.group.entity_key] = child
            progress = PlacementProgress(progress.remaining - 1, progress.scheduled + status.ok)
            result.status = self._judge(progress)
            if not result.status.ok and not result.status.is_wait:
                return result
        if result.status.is_wait:
            result.status = unschedulable(*result.status.reasons)
        return result

    def _judge(self, progress: PlacementProgress) -> Status:
        return run_placement_feasible(self.profile, self.group, progress)

    def _keep(self, child: GroupResult, tried: Tried) -> Status:
        """Try out again what fits, for the groups that come after it."""
        for proposal in child.placed:
            target = proposal.cycle.try_out(proposal.row, proposal.state.fork())
            if isinstance(target, Rejected):
                self.services.nominator.add(proposal.cycle.queued.info)
                return Status.error(f"failed to assume the subtree: {target.status.message}")
            tried.append((proposal.cycle, target))
        return SUCCESS

    def _children(self) -> Iterator[PlacementGroupCycle]:
        """Return a cycle for each group right below this one."""
        trees = self.services.cluster.trees
        for child in trees.children(self.group):
            keys = {leaf.key for leaf in trees.leaves(child)}
            yield self._child(child, keys)

    def _child(self, child: SchedulingGroup, leaves: set[str]) -> PlacementGroupCycle:
        kind = TreeCycle if isinstance(child, CompositePodGroup) else PlacementGroupCycle
        return kind(
            self.services,
            self.profile,
            child,
            [member for member in self.members if member.pod.group_key in leaves],
            self.start_cycle,
            start_within=self.start_within,
            counts=self.counts,
        )
