"""The cycle of a pod group: its members are placed one after the other, each with those before.

Members are tried out on the columns themselves: assumed and reserved as if they were placed, and
taken back in reverse order when all have been tried. So the journal tells what changed for the next
member, and equal members share one judgement. Nothing else reads the state meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter

from podium.api.pod_groups import SchedulingGroup
from podium.cycle.cycle import Cycle
from podium.cycle.extended import choose_node
from podium.cycle.group_result import GroupResult, MemberResult, Proposal, unschedulable
from podium.cycle.outcome import Rejected, failed
from podium.cycle.services import Services
from podium.framework.answers import AttemptFailed
from podium.framework.binding import Target
from podium.framework.diagnosis import Diagnosis
from podium.framework.pod_groups import PlacementProgress, run_placement_feasible
from podium.framework.profile import Profile
from podium.framework.queued_pod import QueuedPod
from podium.framework.status import Code, Status

Tried = list[tuple[Cycle, Target]]
StartCycle = Callable[[QueuedPod], Cycle]


@dataclass(frozen=True, slots=True)
class GroupCycle:
    """One attempt for a group. ``run`` may be called again, such as after a dry run."""

    services: Services
    profile: Profile
    group: SchedulingGroup
    members: Sequence[QueuedPod]
    start_cycle: StartCycle

    async def run(self) -> GroupResult:
        """Try all members. Whatever comes of it, the state is then as it was before."""
        result = await self._place()
        if result.status.ok and not result.placed:
            # Enough members run already, and none of the others fits.
            result.status = unschedulable()
        return result

    @contextmanager
    def _trial(self) -> Iterator[Tried]:
        """Take back what was tried out, the last member first."""
        tried: Tried = []
        try:
            yield tried
        finally:
            for cycle, target in reversed(tried):
                cycle.undo(target)
                self.services.nominator.add(cycle.queued.info)

    async def _place(self) -> GroupResult:
        with self._trial() as tried:
            return await self._place_members(self.start_cycle, tried)

    async def _place_members(self, start_cycle: StartCycle, tried: Tried) -> GroupResult:
        """Try one member after the other, until the group has no chance any more."""
        scheduled = self.services.cluster.members(self.group.key).scheduled_count
        progress = PlacementProgress(len(self.members), scheduled)
        status = self._feasible(progress)
        if status.code is Code.UNSCHEDULABLE:
            status = unschedulable(*status.reasons)
        result = GroupResult(self.group, status)
        if not status.ok and not status.is_wait:
            return result
        for queued in self.members:
            member = await self._try(start_cycle(queued), tried)
            result.members.append(member)
            is_placed = isinstance(member.outcome, Proposal)
            if not is_placed and not member.status.is_rejection:
                what = f"failed to schedule other pod from a pod group: {member.status.message}"
                result.status = Status.error(what)
                return result
            progress = PlacementProgress(progress.remaining - 1, progress.scheduled + is_placed)
            result.status = self._feasible(progress)
            if not result.status.ok and not result.status.is_wait:
                return result
        if result.status.is_wait:
            result.status = unschedulable(*result.status.reasons)
        return result

    def _feasible(self, progress: PlacementProgress) -> Status:
        status = run_placement_feasible(self.profile, self.group, progress)
        if status.code is Code.ERROR:
            return Status.error(f"failed to evaluate placement feasibility: {status.message}")
        return status

    async def _try(self, cycle: Cycle, tried: Tried) -> MemberResult:
        """Find a node for a member, and try it out there."""
        queued, now, begin = cycle.queued, self.services.clock.now(), perf_counter()
        outcome = await self._find(cycle)
        state = None
        if isinstance(outcome, Proposal):
            state = outcome.state
            target = cycle.try_out(outcome.row, outcome.state.fork())
            if isinstance(target, Rejected):
                outcome = target
                self.services.nominator.add(queued.info)
            else:
                tried.append((cycle, target))
        elif outcome.diagnosis is not None:
            state = cycle.state.fork()
        cycle.recorded(outcome, begin)
        self.profile.calls.report()
        return MemberResult(queued, outcome, now, state)

    async def _find(self, cycle: Cycle) -> Proposal | Rejected:
        try:
            found = await choose_node(cycle)
        except AttemptFailed as failure:
            return failed(failure.status, cycle.record)
        if isinstance(found, Diagnosis):
            return cycle.refuse(found, None, None)
        return Proposal(cycle, found, cycle.state.fork())
